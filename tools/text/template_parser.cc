#include "tools/text/template_parser.h"

#include <errno.h>
#include <stdlib.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "tools/text/template_builtins.h"
#include "tools/text/template_lexer.h"

namespace fovea::tools::jinja {
namespace {

constexpr unsigned kMostDeep = 200;   // levels of an expression
constexpr unsigned kMostBlocks = 50;  // statements in statements

using Kind = Expression::Kind;

class Parser {
 public:
  explicit Parser(const std::string& source) : tokens_(Tokens(source)) {}

  Program Run() {
    Program program;
    program.body = Body({});
    for (const std::string& name : called_) {
      if (defined_.count(name) == 0) unknown_.insert("function " + name);
    }
    program.unknown.assign(unknown_.begin(), unknown_.end());
    return program;
  }

 private:
  // Tokens.
  const Token& Now() const { return tokens_[at_]; }
  const Token& Ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token Next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool Take(const char* sign) { return Now().Is(sign) ? (++at_, true) : false; }
  bool TakeName(const char* name) { return Now().IsName(name) ? (++at_, true) : false; }
  [[noreturn]] void Unexpected() const {
    switch (Now().kind) {
      case Token::Kind::kEnd:
        Refuse("ends inside a block");
      case Token::Kind::kEndOutput:
      case Token::Kind::kEndStatement:
        Refuse("has a tag that ends too early in line {}", Now().line);
      default:
        Refuse("has an unexpected '{}' in line {}", Now().text, Now().line);
    }
  }
  void Need(const char* sign) {
    if (!Take(sign)) Unexpected();
  }
  void Need(Token::Kind kind) {
    if (Now().kind != kind) Unexpected();
    ++at_;
  }
  std::string Name() {
    if (Now().kind != Token::Kind::kName) Unexpected();
    return Next().text;
  }

  // Statements.
  Statement Begin(Statement::Kind kind) const {
    Statement statement;
    statement.kind = kind;
    statement.line = Now().line;
    return statement;
  }

  // Up to one of these statements, whose name is the next token; to the end of the template if there are none.
  Block Body(std::initializer_list<const char*> ends) {
    if (++blocks_ > kMostBlocks) Refuse("nests blocks more than {} deep", kMostBlocks);
    Block block;
    for (;;) {
      if (Now().kind == Token::Kind::kEnd) {
        if (ends.size() != 0) Unexpected();
        break;
      }
      if (Now().kind == Token::Kind::kText) {
        block.push_back(Begin(Statement::Kind::kText));
        block.back().text = Next().text;
      } else if (Now().kind == Token::Kind::kBeginOutput) {
        block.push_back(Begin(Statement::Kind::kOutput));
        ++at_;
        block.back().value = Tuple(true);
        Need(Token::Kind::kEndOutput);
      } else {
        Need(Token::Kind::kBeginStatement);
        if (std::any_of(ends.begin(), ends.end(), [&](const char* end) { return Now().IsName(end); })) break;
        block.push_back(OneStatement());
        Need(Token::Kind::kEndStatement);
      }
    }
    --blocks_;
    return block;
  }
  Block BodyTo(const char* end) {
    Take(":");
    Need(Token::Kind::kEndStatement);
    Block body = Body({end});
    ++at_;
    return body;
  }

  // The body of a macro, which takes further arguments where it names them.
  void MacroBody(const char* end, Statement* s) {
    const size_t begin = at_;
    s->body = BodyTo(end);
    for (size_t i = begin; i < at_; ++i) {
      s->uses_varargs = s->uses_varargs || tokens_[i].IsName("varargs");
      s->uses_kwargs = s->uses_kwargs || tokens_[i].IsName("kwargs");
      s->uses_caller = s->uses_caller || tokens_[i].IsName("caller");
    }
  }

  Statement OneStatement() {
    const Token first = Now();
    const std::string name = Name();
    Statement s = Begin(Statement::Kind::kText);
    s.line = first.line;
    if (name == "for") return For(std::move(s));
    if (name == "if") return If(std::move(s));
    if (name == "set") return Set(std::move(s));
    if (name == "macro") {
      s.kind = Statement::Kind::kMacro;
      s.text = Name();
      defined_.insert(s.text);
      Parameters(&s.parameters);
      MacroBody("endmacro", &s);
    } else if (name == "call") {
      s.kind = Statement::Kind::kCall;
      if (Now().Is("(")) Parameters(&s.parameters);
      s.value = OneExpression();
      if (s.value->kind != Kind::kCall) Refuse("has a call block without a call in line {}", s.line);
      MacroBody("endcall", &s);
    } else if (name == "filter") {
      s.kind = Statement::Kind::kFilter;
      s.filter = Filter(nullptr);
      while (Take("|")) s.filter = Filter(std::move(s.filter));
      s.body = BodyTo("endfilter");
    } else if (name == "generation") {
      s.kind = Statement::Kind::kScope;
      s.body = BodyTo("endgeneration");
    } else if (name == "with") {
      s.kind = Statement::Kind::kScope;
      while (Now().kind != Token::Kind::kEndStatement) {
        if (!s.variables.empty()) Need(",");
        Target target = OneTarget(true);
        Need("=");
        s.variables.emplace_back(std::move(target), OneExpression());
      }
      s.body = BodyTo("endwith");
    } else if (name == "break" || name == "continue") {
      if (loops_ == 0) Refuse("has a {} outside of a loop in line {}", name, s.line);
      s.kind = name == "break" ? Statement::Kind::kBreak : Statement::Kind::kContinue;
    } else {
      Refuse("uses the statement '{}' in line {}", name, s.line);
    }
    return s;
  }

  Statement For(Statement s) {
    s.kind = Statement::Kind::kFor;
    s.target = Targets();
    if (!TakeName("in")) Unexpected();
    s.value = Tuple(false, "recursive");
    if (TakeName("if")) s.condition = OneExpression();
    if (Now().IsName("recursive")) Refuse("uses a recursive loop in line {}", s.line);
    Take(":");
    Need(Token::Kind::kEndStatement);
    ++loops_;
    s.body = Body({"endfor", "else"});
    --loops_;
    if (Next().text == "else") s.otherwise = BodyTo("endfor");
    return s;
  }

  Statement If(Statement s) {
    s.kind = Statement::Kind::kIf;
    for (;;) {
      Branch branch;
      branch.condition = Tuple(false);
      Take(":");
      Need(Token::Kind::kEndStatement);
      branch.body = Body({"elif", "else", "endif"});
      s.branches.push_back(std::move(branch));
      const std::string end = Next().text;
      if (end == "elif") continue;
      if (end == "else") {
        Branch last;
        last.body = BodyTo("endif");
        s.branches.push_back(std::move(last));
      }
      return s;
    }
  }

  Statement Set(Statement s) {
    s.kind = Statement::Kind::kSet;
    s.target = Targets();
    if (Take("=")) {
      s.value = Tuple(true);
      return s;
    }
    while (Take("|")) s.filter = Filter(std::move(s.filter));
    s.body = BodyTo("endset");
    return s;
  }

  void Parameters(std::vector<Parameter>* parameters) {
    Need("(");
    while (!Take(")")) {
      if (!parameters->empty()) Need(",");
      Parameter parameter;
      parameter.name = Name();
      defined_.insert(parameter.name);
      if (Take("=")) {
        parameter.absent = OneExpression();
      } else if (!parameters->empty() && parameters->back().absent) {
        Refuse("has a parameter without a default after one with it in line {}", Now().line);
      }
      parameters->push_back(std::move(parameter));
    }
  }

  Target OneTarget(bool plain) {
    if (++deep_ > kMostBlocks) Unexpected();
    Target target;
    if (Take("(")) {
      target = Targets();
      Need(")");
    } else {
      target.name = Name();
      for (const char* word : {"true", "false", "none", "True", "False", "None"}) {
        if (target.name == word) Refuse("assigns to {} in line {}", word, Now().line);
      }
      defined_.insert(target.name);
      if (!plain && Take(".")) target.attribute = Name();
    }
    --deep_;
    return target;
  }
  Target Targets() {
    Target first = OneTarget(false);
    if (!Now().Is(",")) return first;
    Target all;
    all.parts.push_back(std::move(first));
    while (Take(",")) {
      if (Now().IsName("in") || Now().Is("=") || Now().Is(")")) break;
      all.parts.push_back(OneTarget(false));
    }
    return all;
  }

  // Expressions.
  ExpressionPointer Make(Kind kind, std::vector<ExpressionPointer> parts, std::string text = "") {
    auto expression = std::make_unique<Expression>();
    expression->kind = kind;
    expression->line = Now().line;
    expression->text = std::move(text);
    expression->parts = std::move(parts);
    for (const ExpressionPointer& part : expression->parts) Deepen(expression.get(), part);
    return expression;
  }
  static void Deepen(Expression* expression, const ExpressionPointer& part) {
    if (part == nullptr) return;
    expression->depth = std::max(expression->depth, part->depth + 1);
    if (expression->depth > kMostDeep) Refuse("nests an expression more than {} deep", kMostDeep);
  }
  template <typename... Parts>
  ExpressionPointer Of(Kind kind, std::string text, Parts... parts) {
    std::vector<ExpressionPointer> list;
    (list.push_back(std::move(parts)), ...);
    return Make(kind, std::move(list), std::move(text));
  }
  ExpressionPointer Constant(Value value) {
    ExpressionPointer made = Make(Kind::kConstant, {});
    made->constant = std::move(value);
    return made;
  }

  // Several expressions with commas are a tuple. `conditions`: they may be inline ifs.
  ExpressionPointer Tuple(bool conditions, const char* end = nullptr, bool parentheses = false) {
    std::vector<ExpressionPointer> parts;
    bool is_tuple = false;
    for (;;) {
      if (!parts.empty()) Need(",");
      if (Now().kind == Token::Kind::kEndOutput || Now().kind == Token::Kind::kEndStatement || Now().Is(")") ||
          (end != nullptr && Now().IsName(end))) {
        break;
      }
      parts.push_back(conditions ? OneExpression() : Or());
      if (!Now().Is(",")) break;
      is_tuple = true;
    }
    if (!is_tuple && !parts.empty()) return std::move(parts[0]);
    if (!is_tuple && !parentheses) Unexpected();
    return Make(Kind::kTuple, std::move(parts));
  }

  ExpressionPointer OneExpression() {
    if (++deep_ > kMostBlocks) Refuse("nests an expression more than {} deep", kMostBlocks);
    ExpressionPointer value = Or();
    while (TakeName("if")) {
      ExpressionPointer condition = Or();
      ExpressionPointer otherwise = TakeName("else") ? OneExpression() : nullptr;
      value = Of(Kind::kIf, "", std::move(condition), std::move(value), std::move(otherwise));
    }
    --deep_;
    return value;
  }
  ExpressionPointer Or() {
    ExpressionPointer left = And();
    while (TakeName("or")) left = Of(Kind::kBinary, "or", std::move(left), And());
    return left;
  }
  ExpressionPointer And() {
    ExpressionPointer left = Not();
    while (TakeName("and")) left = Of(Kind::kBinary, "and", std::move(left), Not());
    return left;
  }
  ExpressionPointer Not() {
    if (!TakeName("not")) return Compared();
    if (++deep_ > kMostBlocks) Refuse("nests an expression more than {} deep", kMostBlocks);
    ExpressionPointer value = Of(Kind::kUnary, "not", Not());
    --deep_;
    return value;
  }
  ExpressionPointer Compared() {
    std::vector<ExpressionPointer> parts;
    std::vector<std::string> operators;
    parts.push_back(Sum());
    for (;;) {
      if (Now().IsName("not") && Ahead().IsName("in")) {
        at_ += 2;
        operators.emplace_back("not in");
      } else if (TakeName("in")) {
        operators.emplace_back("in");
      } else if (Now().Is("==") || Now().Is("!=") || Now().Is("<") || Now().Is("<=") || Now().Is(">") ||
                 Now().Is(">=")) {
        operators.push_back(Next().text);
      } else {
        break;
      }
      parts.push_back(Sum());
    }
    if (operators.empty()) return std::move(parts[0]);
    ExpressionPointer made = Make(Kind::kCompare, std::move(parts));
    made->operators = std::move(operators);
    return made;
  }
  ExpressionPointer Sum() {
    ExpressionPointer left = Joined();
    while (Now().Is("+") || Now().Is("-")) {
      const std::string sign = Next().text;
      left = Of(Kind::kBinary, sign, std::move(left), Joined());
    }
    return left;
  }
  ExpressionPointer Joined() {
    ExpressionPointer left = Product();
    while (Take("~")) left = Of(Kind::kBinary, "~", std::move(left), Product());
    return left;
  }
  ExpressionPointer Product() {
    ExpressionPointer left = Power();
    while (Now().Is("*") || Now().Is("/") || Now().Is("//") || Now().Is("%")) {
      const std::string sign = Next().text;
      left = Of(Kind::kBinary, sign, std::move(left), Power());
    }
    return left;
  }
  ExpressionPointer Power() {
    ExpressionPointer left = Unary(true);
    while (Take("**")) left = Of(Kind::kBinary, "**", std::move(left), Unary(true));
    return left;
  }
  ExpressionPointer Unary(bool filters) {
    ExpressionPointer value;
    if (Now().Is("-") || Now().Is("+")) {
      if (++deep_ > kMostBlocks) Refuse("nests an expression more than {} deep", kMostBlocks);
      const std::string sign = Next().text;
      value = Of(Kind::kUnary, sign, Unary(false));
      --deep_;
    } else {
      value = Primary();
    }
    value = Postfix(std::move(value));
    while (filters) {
      if (Take("|")) {
        value = Filter(std::move(value));
      } else if (TakeName("is")) {
        value = Test(std::move(value));
      } else if (Now().Is("(")) {
        value = Call(std::move(value));
      } else {
        break;
      }
    }
    return value;
  }

  ExpressionPointer Primary() {
    const Token token = Now();
    switch (token.kind) {
      case Token::Kind::kName: {
        ++at_;
        if (token.text == "true" || token.text == "True") return Constant(Bool(true));
        if (token.text == "false" || token.text == "False") return Constant(Bool(false));
        if (token.text == "none" || token.text == "None") return Constant(None());
        return Make(Kind::kName, {}, token.text);
      }
      case Token::Kind::kString: {
        std::string text;
        while (Now().kind == Token::Kind::kString) text += Next().text;  // adjacent strings are concatenated
        return Constant(String(std::move(text), &budget_));
      }
      case Token::Kind::kInteger: {
        ++at_;
        errno = 0;
        const int64_t number = strtoll(token.text.c_str(), nullptr, 10);
        if (errno != 0) Refuse("has a number of {} digits in line {}", token.text.size(), token.line);
        return Constant(Int(number));
      }
      case Token::Kind::kReal:
        ++at_;
        return Constant(Float(strtod(token.text.c_str(), nullptr)));
      default:
        break;
    }
    if (Take("(")) {
      ExpressionPointer value = Tuple(true, nullptr, true);
      Need(")");
      return value;
    }
    if (Take("[")) {
      std::vector<ExpressionPointer> parts;
      while (!Take("]")) {
        if (!parts.empty()) {
          Need(",");
          if (Take("]")) break;
        }
        parts.push_back(OneExpression());
      }
      return Make(Kind::kList, std::move(parts));
    }
    if (Take("{")) {
      std::vector<ExpressionPointer> parts;
      while (!Take("}")) {
        if (!parts.empty()) {
          Need(",");
          if (Take("}")) break;
        }
        parts.push_back(OneExpression());
        Need(":");
        parts.push_back(OneExpression());
      }
      return Make(Kind::kDict, std::move(parts));
    }
    Unexpected();
  }

  ExpressionPointer Postfix(ExpressionPointer value) {
    for (;;) {
      if (Take(".")) {
        if (Now().kind == Token::Kind::kInteger) {
          value = Of(Kind::kItem, "", std::move(value), Primary());
        } else {
          std::string name = Name();
          value = Of(Kind::kAttribute, std::move(name), std::move(value));
        }
      } else if (Take("[")) {
        value = Subscript(std::move(value));
      } else if (Now().Is("(")) {
        value = Call(std::move(value));
      } else {
        return value;
      }
    }
  }
  ExpressionPointer Subscript(ExpressionPointer of) {
    ExpressionPointer index, end, step;
    if (!Now().Is(":")) {
      index = OneExpression();
      if (Take("]")) return Of(Kind::kItem, "", std::move(of), std::move(index));
    }
    Need(":");
    if (!Now().Is(":") && !Now().Is("]")) end = OneExpression();
    if (Take(":") && !Now().Is("]")) step = OneExpression();
    Need("]");
    return Of(Kind::kSlice, "", std::move(of), std::move(index), std::move(end), std::move(step));
  }

  void TakeArguments(Expression* call) {
    Need("(");
    Arguments& arguments = call->arguments;
    bool comma = false;
    while (!Take(")")) {
      if (comma) {
        Need(",");
        if (Take(")")) break;
      }
      comma = true;
      if (Now().Is("*") || Now().Is("**")) {
        ExpressionPointer& all = Now().Is("*") ? arguments.list : arguments.dict;
        if (all != nullptr || arguments.dict != nullptr) Unexpected();
        ++at_;
        all = OneExpression();
        Deepen(call, all);
      } else if (arguments.dict != nullptr) {
        Unexpected();
      } else if (Now().kind == Token::Kind::kName && Ahead().Is("=")) {
        std::string name = Next().text;
        ++at_;
        arguments.named.emplace_back(std::move(name), OneExpression());
        Deepen(call, arguments.named.back().second);
      } else {
        if (!arguments.named.empty() || arguments.list != nullptr) Unexpected();
        arguments.positional.push_back(OneExpression());
        Deepen(call, arguments.positional.back());
      }
    }
  }
  ExpressionPointer Call(ExpressionPointer of) {
    if (of->kind == Kind::kName && !IsFunction(of->text) && of->text != "caller") called_.insert(of->text);
    if (of->kind == Kind::kAttribute && !IsMethod(of->text)) unknown_.insert("method " + of->text);
    ExpressionPointer call = Of(Kind::kCall, "", std::move(of));
    TakeArguments(call.get());
    return call;
  }
  ExpressionPointer Filter(ExpressionPointer of) {
    std::string name = Name();
    while (Take(".")) name += "." + Name();
    if (!IsFilter(name)) unknown_.insert("filter " + name);
    ExpressionPointer made = Of(Kind::kFilter, std::move(name), std::move(of));
    if (Now().Is("(")) TakeArguments(made.get());
    return made;
  }
  ExpressionPointer Test(ExpressionPointer of) {
    const bool negated = TakeName("not");
    std::string name = Name();
    if (!IsTest(name)) unknown_.insert("test " + name);
    ExpressionPointer made = Of(Kind::kTest, std::move(name), std::move(of));
    const Token& now = Now();
    const bool begins = now.kind == Token::Kind::kName || now.kind == Token::Kind::kString ||
                        now.kind == Token::Kind::kInteger || now.kind == Token::Kind::kReal || now.Is("[") ||
                        now.Is("{");
    if (now.Is("(")) {
      TakeArguments(made.get());
    } else if (begins && !now.IsName("else") && !now.IsName("or") && !now.IsName("and")) {
      if (now.IsName("is")) Unexpected();
      made->arguments.positional.push_back(Postfix(Primary()));
      Deepen(made.get(), made->arguments.positional[0]);
    }
    return negated ? Of(Kind::kUnary, "not", std::move(made)) : std::move(made);
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  unsigned blocks_ = 0, deep_ = 0, loops_ = 0;
  Budget budget_;
  std::set<std::string> defined_, called_, unknown_;
};

}  // namespace

Program Parse(const std::string& source) { return Parser(source).Run(); }

}  // namespace fovea::tools::jinja
