"""What holds for all tests: hypothesis looks at no clock, so that none fails on a busy machine."""

from hypothesis import HealthCheck, settings

settings.register_profile("kit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kit")
