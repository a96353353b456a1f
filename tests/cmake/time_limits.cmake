# Time limits are safety nets: they end what hangs, and decide nothing else. FAB_TEST_TIME_FACTOR multiplies all of
# them, for a machine that does other things, too (tests/run --loaded); tests/support/time_limit.h has those inside the
# tests.
set(FAB_TEST_TIME_FACTOR 1 CACHE STRING "Factor on the time limits of tests")
foreach(seconds 30 60 90 100 120 150 240 270 300 420 540 600 900)
  math(EXPR fab_${seconds}_s "${seconds} * ${FAB_TEST_TIME_FACTOR}")
endforeach()
