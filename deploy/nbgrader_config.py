"""nbgrader's configuration of a course on a hub: for the course folder, in the place of its own."""

from autograder.course_folder import configure

c = get_config()  # noqa: F821 - nbgrader runs this file, and gives it
configure(c, __file__)

c.Exchange.root = "/srv/class/exchange"  # every student can write to it, and list nobody's work
c.CourseDirectory.groupshared = True  # what one grader writes, the others can read and change
