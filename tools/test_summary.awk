# Reads ctest's LastTest.log files: which cases were skipped and why, and at last how many passed, failed and were
# skipped. A program of GoogleTest counts with its cases, any other test as one. What a test writes is read only for its
# cases and reasons; how it ended is what ctest writes around that.
function finish() {
  if (!started) return
  if (!counted && cases == 0) {  # no program of GoogleTest
    ran = 1
    idle = ended_well && (left_out || unstarted)
    good = ended_well && !idle
  } else if (!counted) {  # one that did not come to its end
    ran = cases; good = fine; idle = passed_over
  }
  bad = ran - good - idle
  if (!ended_well && bad == 0) bad = 1  # it failed after its cases, or was stopped
  passed += good; failed += bad; skipped += idle
  started = inside = counted = cases = fine = passed_over = ran = good = idle = 0
  ended_well = left_out = unstarted = waits = 0
}
function wants(text, part) {
  split(text, part, ", for want of ")
  if (!((part[2], part[1]) in seen)) names[part[2]] = names[part[2]] " " part[1]
  seen[part[2], part[1]] = 1
  ++wanting[part[2]]
}

{ sub(/\r$/, "") }  # of programs for Windows
inside && /^<end of output>$/ { inside = reason = 0; next }
inside && /^NOT TESTED: .*, for want of / { left_out = 1; wants(substr($0, 13)); next }
inside && /^SKIPPED: / { left_out = 1; ++others[substr($0, 10)]; next }
inside && /^\[=+\] [0-9]+ tests? from .* ran/ { counted = 1; ran = $2 }
inside && /^\[  PASSED  \] [0-9]+ tests?\.$/ { good = $4 }
inside && /^\[  SKIPPED \] [0-9]+ tests?[.,]/ { idle = $4 }  # in brief output without a list
inside && /\[       OK \] .* \([0-9]+ ms\)$/ { ++cases; ++fine }
inside && /\[  SKIPPED \] .* \([0-9]+ ms\)$/ { ++cases; ++passed_over }
inside && /\[  FAILED  \] .* \([0-9]+ ms\)$/ { ++cases }
inside && reason && NF && !/^\[/ { ++others[$0] }
inside { reason = /: Skipped$/; next }

/^[0-9]+\/[0-9]+ Testing: / { finish(); started = 1 }
/^Command: ""$/ { unstarted = 1 }
/^Output:$/ { waits = 1; next }
waits && /^-+$/ { inside = 1 }
{ waits = 0 }
# Both are written before the test that they are about.
/^Unable to find executable/ || /^Failed test dependencies: / || /^Could not find executable / { absent = 1 }
/^Test Passed\.$/ || /^Required regular expression found\./ { ended_well = !absent; absent = 0 }
/^Skip regular expression found in output\./ { ended_well = left_out = 1 }
/^Test Failed\.$/ || /^Test Fail Reason:$/ { absent = 0 }

END {
  finish()
  for (text in others) printf "%d skipped: %s\n", others[text], text
  for (path in wanting) printf "%d skipped for want of %s:%s\n", wanting[path], path, names[path]
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
