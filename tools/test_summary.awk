# Reads ctest's LastTest.log files: which cases were skipped and why, and at last how many passed, failed and were
# skipped. A program of GoogleTest counts with its cases, any other test as one.
function finish(bad) {
  if (!started) return
  if (ran == 0) { ran = 1; good = ended_well }
  bad = ran - good - idle
  if (!ended_well && bad == 0) bad = 1  # it failed after its cases, or was stopped
  passed += good; failed += bad; skipped += idle
  started = ran = good = idle = ended_well = 0
}
/^[0-9]+\/[0-9]+ Testing: / { finish(); started = 1 }
/^\[=+\] [0-9]+ tests? from .* ran/ { ran = $2 }
/^\[  PASSED  \]/ { good = $4 }
/^\[  SKIPPED \]/ { idle = $4 }
/^Unable to find executable/ { absent = 1 }
/^Test Passed\.$/ { ended_well = !absent; absent = 0 }
/^NOT TESTED: .*, for want of / {
  sub(/^NOT TESTED: /, "")
  split($0, part, ", for want of ")
  if (!((part[2], part[1]) in seen)) names[part[2]] = names[part[2]] " " part[1]
  seen[part[2], part[1]] = 1
  ++wanting[part[2]]
}
reason && NF { ++others[$0] }
{ reason = /: Skipped$/ }
END {
  finish()
  for (text in others) printf "%d skipped: %s\n", others[text], text
  for (path in wanting) printf "%d skipped for want of %s:%s\n", wanting[path], path, names[path]
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
