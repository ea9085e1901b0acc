// fovea inspect: the content of a blob, the operations of its program and the exact memory it needs.
#include <fmt/format.h>
#include <string.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "runtime/blob/names.h"
#include "tools/base/fail.h"
#include "tools/base/print.h"
#include "tools/base/printable.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/generate/decoder_session.h"
#include "tools/generate/generator.h"
#include "tools/inspect/profile.h"
#include "tools/inspect/static_memory.h"
#include "tools/inspect/summary.h"
#include "tools/measure/operation_work.h"
#include "tools/model/library_error.h"
#include "tools/model/packed_weights.h"
#include "tools/run/explanation.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  ShapeArguments shape;
  bool header = false;
  uint64_t longest_text = 0;
  bool generation = false;
  uint32_t max_tokens = 0;
  bool explain = false;
  bool needs = false;
  std::vector<std::string> also;
  bool json = false;
};

std::string Text(const char* text) { return text == nullptr ? "" : text; }

// Weights that the model multiplies from the blob's rows although packed weights of the blob are used.
OrderedJson ReadAsRows(const Model& model) {
  const fovea_model_info info = model.Info();
  OrderedJson names = OrderedJson::array();
  if (info.uses_packed == 0) return names;
  std::set<uint32_t> seen;
  for (uint32_t p = 0; p < info.program_count; ++p) {
    for (uint32_t s = 0; s < model.Program(p).step_count; ++s) {
      const char* backend = model.Step(p, s).backend;
      uint32_t tensor = 0;
      if (backend == nullptr || strcmp(backend, info.backend) == 0) continue;
      Check(fovea_program_get_step_tensor(model.get(), p, s, 0, &tensor), "tensor of a step");
      if (seen.insert(tensor).second) names.push_back(Text(model.Tensor(tensor).name));
    }
  }
  return names;
}

std::string OptionalRows(uint32_t rows) { return rows == UINT32_MAX ? "any" : Grouped(rows); }

OrderedJson Contents(const Model& model) {
  const fovea_model_info info = model.Info();
  OrderedJson sections = OrderedJson::array(), spaces = OrderedJson::array(), tensors = OrderedJson::array();
  OrderedJson metadata = OrderedJson::object();
  for (uint32_t i = 0; i < info.section_count; ++i) {
    const fovea_section_info s = model.Section(i);
    sections.push_back(
        {{"name", Text(s.name)}, {"kind", s.kind}, {"offset", s.offset}, {"size", s.size}, {"layout", s.layout}});
    if (s.kind == static_cast<uint32_t>(SectionKind::kPacked)) sections.back()["targets"] = TargetsWithLayout(s.layout);
  }
  for (uint32_t i = 0; i < info.metadata_count; ++i) {
    const char *key = nullptr, *value = nullptr;
    if (fovea_model_get_metadata(model.get(), i, &key, &value) == FOVEA_OK) metadata[Text(key)] = Text(value);
  }
  for (uint32_t i = 0; i < info.space_count; ++i) {
    const fovea_space_info s = model.Space(i);
    OrderedJson space = {
        {"name", Text(s.name)}, {"parent", nullptr}, {"is_input", s.is_input != 0}, {"max_segment_rows", nullptr}};
    if (s.parent != FOVEA_NONE) space["parent"] = Text(model.Space(s.parent).name);
    if (s.max_segment_rows != UINT32_MAX) space["max_segment_rows"] = s.max_segment_rows;
    spaces.push_back(space);
  }
  for (uint32_t i = 0; i < info.tensor_count; ++i) {
    const fovea_tensor_info t = model.Tensor(i);
    tensors.push_back({{"name", Text(t.name)},
                       {"type", NameOf(DType(t.type))},
                       {"rows", t.rows},
                       {"width", t.width},
                       {"bytes", t.bytes},
                       {"only_packed", t.data == nullptr}});
  }
  return {{"blob_bytes", info.blob_bytes},
          {"backend", info.backend},
          {"uses_packed", info.uses_packed != 0},
          {"read_as_rows", ReadAsRows(model)},
          {"sections", sections},
          {"metadata", metadata},
          {"spaces", spaces},
          {"tensors", tensors},
          {"linear_layers", info.linear_count}};
}

OrderedJson Program(const Model& model, uint32_t program, const std::vector<double>& flops) {
  const fovea_program_info info = model.Program(program);
  OrderedJson values = OrderedJson::array(), steps = OrderedJson::array();
  for (uint32_t i = 0; i < info.value_count; ++i) {
    const fovea_value_info v = model.Value(program, i);
    if (v.role == FOVEA_ROLE_INTERNAL) continue;
    values.push_back({{"name", v.name},
                      {"role", v.role == FOVEA_ROLE_INPUT ? "input" : "output"},
                      {"space", model.Space(v.space).name},
                      {"width", v.width},
                      {"type", NameOf(DType(v.type))}});
    if (v.id_limit != 0) values.back()["id_limit"] = v.id_limit;
    if (v.carried_by != FOVEA_NONE) values.back()["carried_by"] = model.Value(program, v.carried_by).name;
  }
  for (uint32_t i = 0; i < info.step_count; ++i) {
    const fovea_step_info s = model.Step(program, i);
    const fovea_value_info out = model.Value(program, s.output);
    steps.push_back({{"op", s.op},
                     {"name", Text(s.name)},
                     {"output", out.name},
                     {"space", model.Space(out.space).name},
                     {"width", out.width},
                     {"type", NameOf(DType(out.type))},
                     {"phase", s.phase},
                     {"tile_local", s.tile_local != 0},
                     {"gop", 1e-9 * flops[i]}});
    if (s.backend != nullptr) steps.back()["backend"] = s.backend;
    if (s.heads != 0) steps.back()["heads"] = s.heads;
  }
  return {{"name", info.name}, {"phases", info.phase_count}, {"interface", values}, {"steps", steps}};
}

OrderedJson Plan(const Model& model, const Session& session) {
  const fovea_session_info info = session.Info();
  OrderedJson limits = OrderedJson::array();
  for (const fovea_limit& limit : session.request().limits) {
    limits.push_back(
        {{"space", model.Space(limit.space).name}, {"rows", limit.rows}, {"segment_rows", limit.segment_rows}});
  }
  const fovea_session_memory& sizes = session.sizes();
  return {{"limits", limits},
          {"workers", info.workers},
          {"tile_rows", info.tile_rows},
          {"backend", Text(model.Info().backend)},
          {"bytes",
           {{"model", model.memory_bytes()},
            {"fixed", sizes.fixed_size},
            {"state", sizes.state_size},
            {"scratch", sizes.scratch_size}}},
          {"fixed", {{"plan", info.plan_bytes}, {"operators", info.operator_bytes}}},
          {"scratch",
           {{"inputs", info.input_bytes},
            {"values", info.value_bytes},
            {"kept", info.keep_bytes},
            {"taps", info.tap_bytes},
            {"workers", info.worker_bytes}}}};
}

std::string Of(const OrderedJson& json, const char* key) { return Printable(json[key].get<std::string>()); }

void PrintContents(std::ostream& out, const OrderedJson& blob) {
  out << fmt::format("\nBlob: {} bytes\n", Grouped(blob["blob_bytes"].get<uint64_t>()));
  for (const OrderedJson& s : blob["sections"]) {
    const auto targets = s.value("targets", std::vector<std::string>());
    out << fmt::format("  {:<12} {:>14} bytes at {:>14}{}\n", Of(s, "name"), Grouped(s["size"].get<uint64_t>()),
                       Grouped(s["offset"].get<uint64_t>()),
                       targets.empty() ? "" : fmt::format("  for {}", fmt::join(targets, ", ")));
  }
  out << "\nMetadata\n";
  size_t shown = 0;
  for (const auto& [key, value] : blob["metadata"].items()) {
    if (++shown > 40) continue;
    out << fmt::format("  {:<26} {}\n", Printable(key), Printable(value.get<std::string>()));
  }
  if (shown > 40) out << fmt::format("  ... {} more (--json prints them)\n", shown - 40);
  out << "\nSpaces\n";
  for (const OrderedJson& s : blob["spaces"]) {
    const std::string parent = s["parent"].is_null() ? "" : " in " + Of(s, "parent");
    const std::string most =
        s["max_segment_rows"].is_null()
            ? ""
            : fmt::format(", segments of up to {} rows", OptionalRows(s["max_segment_rows"].get<uint32_t>()));
    out << fmt::format("  {}{}{}{}\n", Of(s, "name"), parent, s["is_input"].get<bool>() ? ", input" : ", derived",
                       most);
  }
  std::map<std::string, std::pair<size_t, uint64_t>> types;
  for (const OrderedJson& t : blob["tensors"]) {
    auto& [count, bytes] = types[Of(t, "type")];
    ++count;
    bytes += t["bytes"].get<uint64_t>();
  }
  out << "\nTensors\n";
  for (const auto& [type, sum] : types) {
    out << fmt::format("  {:<5} {:>5} tensors {:>16} bytes\n", type, sum.first, Grouped(sum.second));
  }
  out << fmt::format("  {} linear layers, {}{}\n", blob["linear_layers"].get<uint32_t>(), Of(blob, "backend"),
                     blob["uses_packed"].get<bool>() ? ", packed weights of the blob are used in place" : "");
  const auto rows = blob["read_as_rows"].get<std::vector<std::string>>();
  const std::string more = rows.size() > 1 ? fmt::format(" and {} more", rows.size() - 1) : "";
  if (!rows.empty()) out << fmt::format("  multiplied from rows, not packed: {}{}\n", Printable(rows[0]), more);
}

void PrintProgram(std::ostream& out, const OrderedJson& program) {
  out << fmt::format("\nProgram '{}': {} steps in {} phases\n", Of(program, "name"), program["steps"].size(),
                     program["phases"].get<uint32_t>());
  for (const OrderedJson& v : program["interface"]) {
    out << fmt::format("  {:<6} {:<24} {} [{}, {}]{}{}\n", Of(v, "role"), Of(v, "name"), Of(v, "type"), Of(v, "space"),
                       v["width"].get<uint32_t>(),
                       v.contains("id_limit") ? fmt::format(", ids below {}", v["id_limit"].get<uint32_t>()) : "",
                       v.contains("carried_by") ? fmt::format(", carried by {}", Of(v, "carried_by")) : "");
  }
  out << fmt::format("\n  {:>4} {:>5} {:<5}  {:<10} {:<26} {:<20} {:>10}\n", "step", "phase", "local", "op", "output",
                     "shape", "MOP");
  uint32_t index = 0;
  for (const OrderedJson& s : program["steps"]) {
    out << fmt::format("  {:>4} {:>5} {:<5}  {:<10} {:<26} {:<20} {:>10.3f}\n", index++, s["phase"].get<uint32_t>(),
                       s["tile_local"].get<bool>() ? "tile" : "", Of(s, "op"), Of(s, "output"),
                       fmt::format("[{}, {}]{}", Of(s, "space"), s["width"].get<uint32_t>(),
                                   Of(s, "type") == "f32" ? "" : " " + Of(s, "type")),
                       1e3 * s["gop"].get<double>());
  }
}

void PrintPlan(std::ostream& out, const OrderedJson& plan) {
  out << fmt::format("\nPlan for {}: {} workers, tiles of {} rows; at most", Of(plan, "backend"),
                     plan["workers"].get<uint32_t>(), plan["tile_rows"].get<uint32_t>());
  const char* separator = " ";
  for (const OrderedJson& limit : plan["limits"]) {
    out << separator << fmt::format("{} rows of {}", Grouped(limit["rows"].get<uint32_t>()), Of(limit, "space"));
    separator = ", ";
  }
  out << "\n";
  const auto line = [&](const char* indent, const std::string& name, uint64_t bytes) {
    out << fmt::format("  {:<14} {:>14} bytes  {}\n", indent + name, Grouped(bytes), ShortBytes(bytes));
  };
  for (const auto& [block, bytes] : plan["bytes"].items()) {
    line("", block, bytes.get<uint64_t>());
    if (!plan.contains(block)) continue;
    for (const auto& [part, size] : plan[block].items()) {
      if (size.get<uint64_t>() != 0) line("  ", part, size.get<uint64_t>());
    }
  }
}

void PrintNeeds(const Model& model, const Arguments& arguments, Console* console) {
  std::vector<std::unique_ptr<Model>> others;
  std::vector<const Model*> models = {&model};
  for (const std::string& path : arguments.also) {
    ModelArguments other = arguments.model;
    other.path = path;
    others.push_back(std::make_unique<Model>(other.Open()));
    models.push_back(others.back().get());
  }
  console->out << ProfileFor(models, arguments.explain);
}

// A header for generating one text: --rows is the number of tokens that an encoder reads, or of the prompt.
std::string GenerationHeader(const Model& model, const Arguments& arguments) {
  GenerationRequest request;
  request.workers = arguments.shape.workers;
  request.max_tokens = arguments.max_tokens;
  ShapeArguments shape = arguments.shape;
  SessionRequest decode_request;
  std::vector<NamedSession> sessions;
  std::optional<Session> encode;
  if (ContinuesTexts(model)) {
    shape.program = model.Program(DecodeProgram(model)).name;
    decode_request = ContinueRequest(model, shape.Lengths(model), request);
  } else {
    shape.program = model.Program(EncoderProgram(model)).name;
    const Batch source = shape.MakeBatch(model);
    encode.emplace(model, shape.Request(model, source));
    Bind(source, &*encode);
    decode_request = DecodeRequest(model, *encode, shape.batch, 1, request);
    sessions.push_back({"encode", &*encode});
  }
  decode_request.tile_rows = shape.tile_rows;
  const Session decode(model, decode_request);
  sessions.push_back({"decode", &decode});
  return StaticMemoryHeader(model, sessions, arguments.longest_text,
                            GeneratorBytes(model, {&decode, encode ? &*encode : nullptr}, request));
}

// Static arrays are for firmware, which has no XNNPACK: a header is for the Highway backend unless another is asked
// for. XNNPACK's sizes would be many times larger.
Model OpenFor(const Arguments& arguments, Console* console) {
  ModelArguments opened = arguments.model;
  const bool chosen = opened.backend != FOVEA_BACKEND_DEFAULT;
  if (arguments.header && !chosen) {
    opened.backend = FOVEA_BACKEND_HIGHWAY;
    console->err << "note: these sizes are for the backend highway, as firmware has it; for another add --backend\n";
  }
  return opened.Open();
}

void Inspect(const Arguments& arguments, Console* console) {
  const Model model = OpenFor(arguments, console);
  if (arguments.needs) return PrintNeeds(model, arguments, console);
  if (arguments.generation) {
    console->out << GenerationHeader(model, arguments);
    return;
  }
  const Batch batch = arguments.shape.MakeBatch(model);
  SessionRequest request = arguments.shape.Request(model, batch);
  if (arguments.explain) {
    request.taps = Explainer(model, request.program).taps();
    if (request.taps.empty())
      Fail("{}: --explain needs a blob with metadata explain.<space>; leave it out", model.name());
  }
  Session session(model, request);
  if (arguments.header) {
    console->out << StaticMemoryHeader(model, {{"", &session}}, arguments.longest_text);
    return;
  }
  Bind(batch, &session);
  OrderedJson result = Contents(model);
  result["program"] = Program(model, session.request().program, OperationFlops(model, session));
  result["plan"] = Plan(model, session);
  if (arguments.json) {
    PrintJson(console->out, result);
    return;
  }
  for (const auto& [name, text] : SummaryLines(model, result)) {
    console->out << fmt::format("{:<11} {}\n", name + ":", text);
  }
  PrintContents(console->out, result);
  PrintProgram(console->out, result["program"]);
  PrintPlan(console->out, result["plan"]);
}

}  // namespace

void AddInspect(Command app, Console* console) {
  const Command command = app.AddCommand(CommandGroup::kModels, "inspect",
                                         "Show a blob's content, its operations and the exact memory it needs");
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  arguments->shape.AddTo(command);
  const Option header =
      output.AddFlag("--header", &arguments->header, "Print a C header with static arrays of these sizes instead");
  output
      .Add("--text-bytes", &arguments->longest_text,
           "With --header: add the tokenizer's memory for texts of N bytes; default: none")
      .Needs(header);
  const Option generation =
      output
          .AddFlag("--generation", &arguments->generation,
                   "With --header: memory for generating a text; --rows is the length of the input or prompt")
          .Needs(header);
  output
      .Add("--max-tokens", &arguments->max_tokens,
           "With --generation: generate at most N tokens; default: as the model specifies")
      .Needs(generation);
  output
      .AddFlag("--explain", &arguments->explain,
               "Include the attention maps of words and sentences that 'fovea run' explains results with")
      .Excludes(generation);
  const Option needs = output.AddFlag("--needs", &arguments->needs,
                                      "Print the operations and features that a build of the library needs instead");
  output.AddRepeated("--also", &arguments->also, "With --needs: another blob that the same build must run")
      .Needs(needs);
  AddJson(command, &arguments->json);
  command.Footer(
      "Examples:\n  fovea inspect model.fovea --rows 64 --batch 4 --workers 2\n"
      "  fovea inspect model.fovea --backend highway --rows 32 --header --text-bytes 256 > model_memory.h\n"
      "  fovea inspect model.fovea --needs > model.profile");
  command.Runs([=] { Inspect(*arguments, console); });
}

}  // namespace fovea::tools
