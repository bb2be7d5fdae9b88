"""Student modules, including hostile ones, and games for them."""
