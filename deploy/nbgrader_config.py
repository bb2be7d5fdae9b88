"""nbgrader's configuration of a course on a hub, to be copied into the course folder."""

from autograder.course_folder import configure

c = get_config()  # noqa: F821 - defined by nbgrader, which runs this file
configure(c, __file__)

# All students can write to it, but they cannot list other students' work.
c.Exchange.root = "/srv/class/exchange"
c.CourseDirectory.groupshared = True  # all graders can read and change each other's files
