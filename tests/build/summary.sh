#!/bin/sh
# Tests the counts of tools/test_summary.awk on logs that ctest writes for tests that end in every possible way.
#   summary.sh SUMMARY_AWK
set -eu
summary=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

# counts EXPECTED < TESTS: compares the summary of ctest's log of these tests. `program NAME` in them is a file of
# output.
counts() {
  rm -rf Testing
  cat >CTestTestfile.cmake
  ctest -j 2 >ctest.out 2>&1 || true
  awk -f "$summary" Testing/Temporary/LastTest.log | sort >found
  printf '%s\n' "$1" | sort >expected
  if ! diff expected found; then failures=1; cat CTestTestfile.cmake; fi
}

# Programs of GoogleTest: their output, then their exit.
cat >mixed.out <<'END'
[==========] Running 7 tests from 2 test suites.
[ RUN      ] A.Good
1/1 Testing: of the output's own
Test Passed.
[       OK ] A.Good (0 ms)
[ RUN      ] A.Absent
NOT TESTED: A.Absent, for want of ../shared/models/tiny
tests/a_test.cc:4: Skipped

[  SKIPPED ] A.Absent (0 ms)
[ RUN      ] A.Slow
tests/a_test.cc:5: Skipped
4096 rows
[  SKIPPED ] A.Slow (0 ms)
[ DISABLED ] A.DISABLED_Off
[ RUN      ] All/P.Is/0
half a line[       OK ] All/P.Is/0 (0 ms)
[ RUN      ] All/P.Is/1
tests/a_test.cc:9: Skipped
4096 rows
[  SKIPPED ] All/P.Is/1 (0 ms)
END
cat >mixed.end <<'END'
[==========] 5 tests from 2 test suites ran. (0 ms total)
[  PASSED  ] 2 tests.
[  SKIPPED ] 3 tests, listed below:
[  SKIPPED ] A.Absent
[  SKIPPED ] A.Slow
[  SKIPPED ] All/P.Is/1

  YOU HAVE 1 DISABLED TEST
END
cat >bad.out <<'END'
[ RUN      ] B.Good
[       OK ] B.Good (1 ms)
[ RUN      ] B.Bad
[  FAILED  ] B.Bad (1 ms)
[==========] 2 tests from 1 test suite ran. (2 ms total)
[  PASSED  ] 1 test.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] B.Bad

 1 FAILED TEST
END
cat >none.out <<'END'
[==========] 0 tests from 0 test suites ran. (0 ms total)
[  PASSED  ] 0 tests.
END
skips="2 skipped: 4096 rows
1 skipped for want of ../shared/models/tiny: A.Absent"

counts "1 passed, 0 failed, 0 skipped" <<'END'
add_test(good true)
END
counts "0 passed, 1 failed, 0 skipped" <<'END'
add_test(bad false)
END
counts "$skips
2 passed, 0 failed, 3 skipped" <<'END'
add_test(mixed cat mixed.out mixed.end)
END
counts "1 passed, 1 failed, 0 skipped" <<'END'
add_test(bad sh -c "cat bad.out; exit 1")
END
# Brief output has no list of the skipped cases.
cat >brief.out <<'END'
tests/a_test.cc:5: Skipped
4096 rows
[==========] 2 tests from 1 test suite ran. (0 ms total)
[  PASSED  ] 1 test.
[  SKIPPED ] 1 test.
END
counts "1 skipped: 4096 rows
1 passed, 0 failed, 1 skipped" <<'END'
add_test(brief cat brief.out)
END
# All cases passed but the program failed: a sanitizer found a leak at its end.
counts "$skips
2 passed, 1 failed, 3 skipped" <<'END'
add_test(leak sh -c "cat mixed.out mixed.end; exit 1")
END
# The program crashed, or was stopped, within a case.
counts "$skips
2 passed, 1 failed, 3 skipped" <<'END'
add_test(crash sh -c "cat mixed.out; kill -SEGV $$")
END
counts "$skips
2 passed, 1 failed, 3 skipped" <<'END'
add_test(slow sh -c "cat mixed.out; exec sleep 9")
set_tests_properties(slow PROPERTIES TIMEOUT 1)
END
counts "0 passed, 0 failed, 0 skipped" <<'END'
add_test(none cat none.out)
END
# Cases that ctest runs one by one (gtest_discover_tests): one passes, one is skipped, one fails, one is not built.
cat >one.out <<'EOT'
[==========] 1 test from 1 test suite ran. (0 ms total)
[  PASSED  ] 1 test.
EOT
cat >skipped.out <<'EOT'
tests/a_test.cc:5: Skipped
4096 rows
[  SKIPPED ] A.Slow (0 ms)
[==========] 1 test from 1 test suite ran. (0 ms total)
[  PASSED  ] 0 tests.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] A.Slow
EOT
counts "1 skipped: 4096 rows
1 passed, 2 failed, 1 skipped" <<'END'
add_test(a.A.Good cat one.out)
add_test(a.A.Slow cat skipped.out)
set_tests_properties(a.A.Slow PROPERTIES SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
add_test(b.B.Bad sh -c "sed 's/PASSED/FAILED/' one.out; exit 1")
add_test(c_test_NOT_BUILT c_test_NOT_BUILT)
END

# Programs without GoogleTest. A skipped one reports this by its status or by text that ctest matches.
counts "1 skipped: no node, so nothing is tested
1 skipped for want of ../shared/models/x: firmware.listen
0 passed, 0 failed, 2 skipped" <<'END'
add_test(status sh -c "echo 'SKIPPED: no node, so nothing is tested'; exit 77")
set_tests_properties(status PROPERTIES SKIP_RETURN_CODE 77)
add_test(words echo "NOT TESTED: firmware.listen, for want of ../shared/models/x")
set_tests_properties(words PROPERTIES SKIP_REGULAR_EXPRESSION "NOT TESTED")
END
counts "1 skipped: after a failure that is none
0 passed, 1 failed, 0 skipped" <<'END'
add_test(bad sh -c "echo 'SKIPPED: after a failure that is none'; exit 1")
END
counts "0 passed, 2 failed, 0 skipped" <<'END'
add_test(crash sh -c "kill -SEGV $$")
add_test(slow sleep 9)
set_tests_properties(slow PROPERTIES TIMEOUT 1)
END
counts "2 passed, 2 failed, 0 skipped" <<'END'
add_test(words sh -c "echo yes; exit 1")
set_tests_properties(words PROPERTIES PASS_REGULAR_EXPRESSION yes)
add_test(no_words echo no)
set_tests_properties(no_words PROPERTIES PASS_REGULAR_EXPRESSION yes)
add_test(wrong_words echo no)
set_tests_properties(wrong_words PROPERTIES FAIL_REGULAR_EXPRESSION no)
add_test(refuses false)
set_tests_properties(refuses PROPERTIES WILL_FAIL ON)
END
# Not run: the program is missing, a required test failed, or the test is disabled.
counts "1 passed, 3 failed, 1 skipped" <<'END'
add_test(good true)
add_test(absent /no/such/program)
add_test(fixture false)
set_tests_properties(fixture PROPERTIES FIXTURES_SETUP it)
add_test(needs true)
set_tests_properties(needs PROPERTIES FIXTURES_REQUIRED it)
add_test(off true)
set_tests_properties(off PROPERTIES DISABLED ON)
END
exit $failures
