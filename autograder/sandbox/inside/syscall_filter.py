"""Lists the system calls that are allowed inside: the calls that Python, its libraries and
programs need.

Any other call of this kernel or of a future one seems not to exist. `clone3` is excluded because a
filter cannot read its flags (`clone` does the same), and `socket` is allowed only for one address
family.

Jobs share the machine and the files that they can read. Therefore, calls are excluded that leave a
trace on a file without writing to it, or that reveal such a trace: locks, leases and notifications
(`flock`, most of `fcntl`), and calls that report whether pages of a file are in memory, load them
or drop them (`fadvise64`, `readahead`, `mincore`, `preadv2` with RWF_NOWAIT, some of `madvise`).
`sysinfo` is excluded because its numbers cover all jobs. The C library works without these:
`os.preadv` then calls `preadv`.
"""

from signal import NSIG, SIGCHLD

CALLS = """
    read write readv writev pread64 pwrite64 preadv pwritev open openat openat2
    creat close close_range lseek _llseek stat fstat lstat stat64 fstat64 lstat64 newfstatat
    fstatat64 statx statfs fstatfs statfs64 fstatfs64 access faccessat faccessat2 getdents
    getdents64 readlink readlinkat getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat
    rename renameat renameat2 link linkat symlink symlinkat mknod mknodat chmod fchmod fchmodat
    fchmodat2 chown fchown lchown fchownat umask utime utimes utimensat utimensat_time64
    futimesat truncate truncate64 ftruncate ftruncate64 fallocate fsync fdatasync
    dup dup2 dup3 pipe pipe2 sendfile sendfile64 copy_file_range splice tee
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr brk mmap2 munmap
    mremap mprotect msync mlock mlock2 munlock membarrier pkey_alloc pkey_free
    pkey_mprotect fork vfork execve execveat exit exit_group wait4 waitid waitpid kill tkill
    tgkill getpid getppid gettid getpgid getpgrp setpgid getsid setsid getuid geteuid getgid
    getegid getresuid getresgid getgroups capget prctl arch_prctl set_tid_address
    set_robust_list get_robust_list set_thread_area get_thread_area rseq futex futex_time64
    futex_waitv sched_yield sched_getaffinity sched_setaffinity sched_getparam
    sched_getscheduler sched_setscheduler sched_get_priority_max sched_get_priority_min
    sched_rr_get_interval getpriority setpriority getcpu getrlimit ugetrlimit setrlimit
    prlimit64 getrusage times uname pidfd_open pidfd_send_signal restart_syscall
    rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait
    rt_sigtimedwait_time64 rt_sigqueueinfo rt_tgsigqueueinfo sigprocmask sigreturn
    sigaltstack signalfd signalfd4 pause alarm setitimer getitimer time gettimeofday
    clock_gettime clock_gettime64 clock_getres clock_getres_time64 nanosleep clock_nanosleep
    clock_nanosleep_time64 timer_create timer_settime timer_gettime timer_getoverrun
    timer_delete timerfd_create timerfd_settime timerfd_gettime getrandom poll ppoll
    ppoll_time64 select _newselect pselect6 pselect6_time64 epoll_create epoll_create1 epoll_ctl
    epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 socketpair bind listen accept accept4
    connect getsockname getpeername sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown
    setsockopt getsockopt
"""
# Signal handlers are allowed for all signals except SIGCHLD, because the kernel does not count the
# CPU time of children if SIGCHLD is ignored.
ACTIONS = ("rt_sigaction", "sigaction")
SIGNALS = tuple(number for number in range(1, NSIG) if number != SIGCHLD)
# Allowed requests of `ioctl` (<asm-generic/ioctls.h>). None of them can insert input into a
# terminal.
CONTROLS = {
    "TCGETS": 0x5401,
    "TIOCGPGRP": 0x540F,
    "TIOCGWINSZ": 0x5413,
    "FIONREAD": 0x541B,
    "FIONBIO": 0x5421,
    "FIONCLEX": 0x5450,
    "FIOCLEX": 0x5451,
}
# Allowed commands of `fcntl` (<fcntl.h>): to duplicate a descriptor, and to read and set its flags.
COMMANDS = {
    "F_DUPFD": 0,
    "F_GETFD": 1,
    "F_SETFD": 2,
    "F_GETFL": 3,
    "F_SETFL": 4,
    "F_DUPFD_CLOEXEC": 1030,
}
# Allowed advice of `madvise` (<asm-generic/mman-common.h>). Dropping pages of a file (PAGEOUT,
# COLD) and merging equal pages (MERGEABLE) are not allowed.
ADVICE = {
    "NORMAL": 0,
    "RANDOM": 1,
    "SEQUENTIAL": 2,
    "WILLNEED": 3,
    "DONTNEED": 4,
    "FREE": 8,
    "DONTFORK": 10,
    "DOFORK": 11,
    "HUGEPAGE": 14,
    "NOHUGEPAGE": 15,
    "DONTDUMP": 16,
    "DODUMP": 17,
    "GUARD_INSTALL": 102,
    "GUARD_REMOVE": 103,
}
# From <sys/mman.h>. Shared anonymous pages could exist without being mapped by any process, and
# would then not be counted, so a mapping may be shared or anonymous, but not both.
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
SHARINGS = (0, MAP_SHARED, MAP_ANONYMOUS)
