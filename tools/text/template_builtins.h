// Filters, tests, methods and functions of chat templates (Jinja).
#ifndef FOVEA_TOOLS_TEXT_TEMPLATE_BUILTINS_H_
#define FOVEA_TOOLS_TEXT_TEMPLATE_BUILTINS_H_

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "tools/text/template_value.h"

namespace fovea::tools::jinja {

// Arguments of a call; each function takes what it knows and refuses the rest by name.
class CallArguments {
 public:
  CallArguments(std::string what, List positional, std::vector<std::pair<std::string, Value>> named)
      : what_(std::move(what)), positional_(std::move(positional)), named_(std::move(named)) {}

  const std::string& what() const { return what_; }  // for messages: "filter join"
  // The next parameter, by position or name; null if it is not given.
  const Value* Take(const char* name);
  Value Take(const char* name, const Value& absent);
  int64_t TakeWhole(const char* name, int64_t absent);
  bool TakeFlag(const char* name, bool absent);
  const std::string* TakeText(const char* name);  // null if it is not given or none
  const std::string& NeedText(const char* name);
  const Value& Need(const char* name);
  // The rest, for another call.
  CallArguments Rest(std::string what) const;
  List RestOfPositional();
  std::vector<std::pair<std::string, Value>> RestOfNamed();
  // Refuses arguments that nothing has taken.
  void End() const;

 private:
  std::string what_;
  List positional_;
  std::vector<std::pair<std::string, Value>> named_;
  size_t taken_ = 0;
};

bool IsFilter(const std::string& name);
bool IsTest(const std::string& name);
bool IsMethod(const std::string& name);
bool IsFunction(const std::string& name);

Value ApplyFilter(const std::string& name, const Value& value, CallArguments arguments, Budget* budget);
bool ApplyTest(const std::string& name, const Value& value, CallArguments arguments, Budget* budget);
Value CallMethod(const Method& method, CallArguments arguments, Budget* budget);
// `seconds`: the time that strftime_now shows, in local time.
Value CallFunction(const std::string& name, CallArguments arguments, int64_t seconds, Budget* budget);

// Whether a value has a method of this name.
bool HasMethod(const Value& value, const std::string& name);
// value.name and value[key]; an undefined value if there is none.
Value AttributeOf(const Value& value, const std::string& name, Budget* budget);
Value ItemOf(const Value& value, const Value& key, Budget* budget);
bool Contains(const Value& all, const Value& part, Budget* budget);
Value LengthOf(const Value& value, Budget* budget);
// "%s and %d" % values, "{} and {}".format(values).
std::string PercentFormatted(const std::string& format, const List& values, Budget* budget);
// As C's strftime, in English.
std::string FormattedTime(const std::string& format, int64_t seconds);

}  // namespace fovea::tools::jinja

#endif  // FOVEA_TOOLS_TEXT_TEMPLATE_BUILTINS_H_
