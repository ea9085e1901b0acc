// fovea attend: attention maps of a model, as a page, a record or a single view.
#include "tools/attend/attend.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "tools/attend/page.h"
#include "tools/attend/record_json.h"
#include "tools/attend/taps_file.h"
#include "tools/attend/views.h"
#include "tools/base/mapped_file.h"
#include "tools/base/utf8_path.h"
#include "tools/commands/commands.h"
#include "tools/commands/generation_arguments.h"
#include "tools/media/notes.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  TextArguments text;
  GenerationArguments generation;
  AttendRequest request;
  std::string layers, heads, from, page, json_file, tensors_file, svg_file, png_file;
  ViewChoice view;
  bool sparse = false, pattern = false, bytes = false;
};

void CheckGiven(const Arguments& arguments) {
  const AttendRequest& request = arguments.request;
  const int given = (arguments.text.Given() ? 1 : 0) + (request.pair.empty() ? 0 : 1) +
                    (request.prompts.empty() ? 0 : 1) + (request.sources.empty() ? 0 : 1) +
                    (request.input.empty() ? 0 : 1) + (request.sounds.empty() ? 0 : 1) +
                    (request.pictures.empty() ? 0 : 1);
  if (given == 0)
    Fail("no input; give --text, --file, --document, --pair, --input, --wav, --image, --prompt or --source");
  const bool labels = given == 2 && arguments.text.Given() && !request.pictures.empty();
  if (given > 1 && !labels)
    Fail("give one kind of input only: texts, a pair, tensors, sounds, images, prompts or sources");
  if (!request.program.empty() && (!request.prompts.empty() || !request.sources.empty())) {
    Fail("--program cannot be combined with --prompt and --source, which run several programs");
  }
}

AttendRequest RequestOf(const Arguments& arguments, const Model& model) {
  AttendRequest request = arguments.request;
  if (arguments.text.Given()) request.texts = arguments.text.All();
  TapChoice& taps = request.taps;
  if (!arguments.layers.empty()) taps.layers = NumberList(arguments.layers, "--layers");
  if (!arguments.heads.empty()) taps.heads = NumberList(arguments.heads, "--heads");
  if (taps.rows == FOVEA_TAP_ROWS_STRIDE && taps.stride == 0) Fail("--rows stride needs --stride N");
  if (taps.rows != FOVEA_TAP_ROWS_STRIDE && (taps.stride != 0 || taps.offset != 0)) {
    Fail("--stride and --offset need --rows stride");
  }
  if (taps.scores && taps.reduce != FOVEA_REDUCE_NONE)
    Fail("--scores cannot be combined with --reduce; leave one of them out");
  if (arguments.sparse) taps.form = FormChoice::kSparse;
  if (arguments.pattern) taps.form = FormChoice::kPattern;
  request.generation = arguments.generation.RequestFor(model);
  request.workers = request.generation.workers;
  return request;
}

// Writes the whole file, or leaves none behind.
void WriteWhole(const std::string& path, const std::string& bytes) {
  try {
    WriteFile(path, bytes.data(), bytes.size());
  } catch (const Failure&) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(Utf8Path(path), ignored)) std::filesystem::remove(Utf8Path(path), ignored);
    throw;
  }
}

AttentionRecord RecordOf(const Arguments& arguments, Console* console) {
  if (!arguments.from.empty()) {
    if (!arguments.model.path.empty()) Fail("--from reads a recording and needs no blob; leave out BLOB or --from");
    return ReadTapsFile(arguments.from);
  }
  if (arguments.model.path.empty()) Fail("no input; give a BLOB, or --from");
  const bool files = !(arguments.tensors_file.empty() && arguments.svg_file.empty() && arguments.png_file.empty());
  if (arguments.request.vectors && arguments.page.empty() && arguments.json_file.empty() && files) {
    Fail("--vectors is for the page and for --json; give -o or --json, or leave out --vectors");
  }
  CheckGiven(arguments);
  const Model model = arguments.model.Open();
  AttendRequest request = RequestOf(arguments, model);
  request.told = [&](const TapPlan& plan) {
    console->out << fmt::format("taps add {} bytes to a session of {}\n", Grouped(plan.tap_bytes),
                                Grouped(plan.session_bytes));
    if (!plan.note.empty()) console->out << plan.note << "\n";
    console->out << std::flush;
  };
  return Attend(model, request, arguments.bytes);
}

std::string PngOf(const Drawing& drawing, Console* console) {
  const Fonts fonts;
  uint64_t boxes = 0;
  std::string png = drawing.Png(fonts, &boxes);
  if (boxes != 0) {
    console->err << fmt::format(
        "fovea: {} characters are drawn as boxes: no font of this machine has them; install one, or use --svg\n",
        boxes);
  }
  return png;
}

// Makes all files before it writes the first.
void Run(const Arguments& arguments, Console* console) {
  if (arguments.bytes && !arguments.from.empty())
    Fail("--bytes is the size of a run's taps and cannot be combined with --from");
  const AttentionRecord record = RecordOf(arguments, console);
  for (const std::string& note : record.notes) console->err << "fovea: " << note << "\n";
  const std::vector<std::string>& sounds = arguments.request.sounds;
  for (size_t i = 0; i < record.sounds.size(); ++i) {
    // Long sounds are split into several clips, so their number may differ from that of the files.
    const bool whole = record.sounds.size() == sounds.size();
    PrintNotes(console->err, whole ? sounds[i] : fmt::format("sound {}", i + 1), record.sounds[i].notes);
  }
  if (arguments.bytes) {
    console->out << record.tap_bytes << "\n";
    return;
  }
  std::vector<std::pair<std::string, std::string>> files;
  const bool views = !arguments.svg_file.empty() || !arguments.png_file.empty();
  const bool page =
      !arguments.page.empty() || !(views || !arguments.json_file.empty() || !arguments.tensors_file.empty());
  const std::string text = page || !arguments.json_file.empty() ? RecordText(record) : "";
  if (!arguments.json_file.empty()) files.emplace_back(arguments.json_file, text);
  if (!arguments.tensors_file.empty()) files.emplace_back(arguments.tensors_file, TapsFileOf(record));
  if (views) {
    const Drawing drawing = DrawView(record, arguments.view);
    if (!arguments.svg_file.empty()) files.emplace_back(arguments.svg_file, drawing.Svg());
    if (!arguments.png_file.empty()) files.emplace_back(arguments.png_file, PngOf(drawing, console));
  }
  if (page) files.emplace_back(arguments.page.empty() ? "attention.html" : arguments.page, PageOf(text));
  for (const auto& [path, bytes] : files) {
    WriteWhole(path, bytes);
    console->out << fmt::format("{}: {}\n", Printable(path), ShortBytes(bytes.size()));
  }
}

void AddInputs(Command command, Arguments* arguments) {
  const Options input = command.Under(Heading::kInput);
  AttendRequest* const request = &arguments->request;
  arguments->model.AddTo(command).Required(false);
  input
      .Add("--from", &arguments->from,
           "Show taps that a device recorded, a safetensors file, instead of running a blob")
      .Placeholder("FILE");
  arguments->text.AddTo(command);
  arguments->model.AddLiteral(command);
  input.Add("--pair", &request->pair, "Two texts that the model reads as one sequence")
      .Placeholder("TEXT TEXT")
      .Count(2);
  input.Add("--input", &request->input, "Safetensors file with the inputs").Placeholder("FILE");
  input.Add("--case", &request->golden_case, "Read this case of --input: tensors <case>.in.<input>")
      .Placeholder("NAME")
      .Needs("--input");
  input.AddRepeated("--wav", &request->sounds, "Audio file: WAV, or FLAC, MP3, Ogg by libsndfile").Placeholder("FILE");
  input.AddRepeated("--image", &request->pictures, "Image file: PNG, JPEG, WebP, GIF or BMP").Placeholder("FILE");
  input.AddRepeated("-p,--prompt", &request->prompts, "A prompt that a decoder continues").Placeholder("TEXT");
  input.AddRepeated("--source", &request->sources, "A text that an encoder reads, for which a decoder generates")
      .Placeholder("TEXT");
  AddProgram(command, &request->program);
  AddMaxLength(command, &request->max_length);
  input.AddFlag("--wrapped", &request->wrapped, "Lines of documents are wrapped; without it each line ends a sentence");
  input.Add("--source-language", &request->languages.source, "Language of the source, by the model's name for it")
      .Placeholder("NAME");
  input.Add("--target-language", &request->languages.target, "Language of the target, by the model's name for it")
      .Placeholder("NAME");
  input.Add("--source-prefix", &request->languages.prefix, "Prepend TEXT to each source").Placeholder("TEXT");
  input.Add("--language", &request->speech.language, "Language spoken; default: detected by the model")
      .Placeholder("CODE");
}

void AddChoices(Command command, Arguments* arguments) {
  const Options attention = command.Under(Heading::kAttention);
  TapChoice* const taps = &arguments->request.taps;
  attention.Add("--layers", &arguments->layers, "Layers to keep, counted from 0 in each part: 0,2-5; default: all")
      .Placeholder("LIST");
  attention.Add("--heads", &arguments->heads, "Heads to keep: 0,2-5; default: all").Placeholder("LIST");
  attention
      .AddChoice<uint32_t>(
          "--rows", &taps->rows,
          {{"all", FOVEA_TAP_ROWS_ALL}, {"last", FOVEA_TAP_ROWS_LAST}, {"stride", FOVEA_TAP_ROWS_STRIDE}},
          "Query rows of each text to keep: all, last, or stride (see --stride, --offset)")
      .ShowDefault();
  attention.Add("--stride", &taps->stride, "With --rows stride: keep every Nth row").Range(1u, UINT32_MAX);
  attention.Add("--offset", &taps->offset, "With --rows stride: start at row N");
  attention
      .AddChoice<uint32_t>("--reduce", &taps->reduce,
                           {{"none", FOVEA_REDUCE_NONE}, {"mean", FOVEA_REDUCE_MEAN}, {"max", FOVEA_REDUCE_MAX}},
                           "Reduce the heads to one: none, mean or max")
      .ShowDefault();
  attention.AddFlag("--scores", &taps->scores, "Keep scores before the softmax instead of attention weights");
  attention.AddFlag("--vectors", &arguments->request.vectors,
                    "Also keep queries and keys, which the page multiplies for a pair of tokens");
  const Option sparse = attention.AddFlag("--sparse", &arguments->sparse, "Keep only the keys that a row attends to");
  attention.AddFlag("--pattern", &arguments->pattern, "Keep which keys a row attends to, without weights")
      .Excludes(sparse);
}

void AddOutputs(Command command, Arguments* arguments) {
  const Options view = command.Under(Heading::kView);
  const Options output = command.Under(Heading::kOutput);
  output.Add("-o,--output", &arguments->page, "Write the page to FILE; default: attention.html").Placeholder("FILE");
  output.Add("--json", &arguments->json_file, "Write the recorded weights as JSON").Placeholder("FILE");
  output.Add("--safetensors", &arguments->tensors_file, "Write the weights as safetensors, which --from reads")
      .Placeholder("FILE");
  output.Add("--svg", &arguments->svg_file, "Write one view (--view) as SVG").Placeholder("FILE");
  output.Add("--png", &arguments->png_file, "Write one view (--view) as PNG").Placeholder("FILE");
  ViewChoice* const choice = &arguments->view;
  view.AddChoice<View>("--view", &choice->view,
                       {{"map", View::kMap},
                        {"heads", View::kHeads},
                        {"text", View::kText},
                        {"lines", View::kLines},
                        {"document", View::kDocument},
                        {"alignment", View::kAlignment},
                        {"pattern", View::kPattern},
                        {"picture", View::kPicture}},
                       "View that --svg and --png show")
      .ShowDefault();
  view.Add("--step", &choice->step, "With --view: the operation, by its name; default: the last").Placeholder("NAME");
  view.Add("--layer", &choice->layer, "With --view: the layer").NonNegative();
  view.Add("--head", &choice->head, "With --view: the head; default: the mean of all").NonNegative();
  view.Add("--row", &choice->row, "With --view: the query row; default: the first").NonNegative();
  view.AddFlag("--dark", &choice->dark, "With --view: draw light on dark");
  output.AddFlag("--bytes", &arguments->bytes, "Print only the bytes that the taps add to the session");
}

}  // namespace

void AddAttend(Command app, Console* console) {
  const Command command = app.AddCommand(CommandGroup::kInsight, "attend", "Show attention maps: where a model looks");
  auto arguments = std::make_shared<Arguments>();
  AddInputs(command, arguments.get());
  AddChoices(command, arguments.get());
  arguments->generation.AddSearch(command);
  arguments->generation.AddRoom(command);
  arguments->generation.AddSampling(command);
  AddOutputs(command, arguments.get());
  command.Footer(
      R"(The page is one file for a browser and needs no network. Before the run the command prints the bytes that the
taps add to the session. If everything would be too large, it keeps less and prints what: only the keys that rows
attend to, the mean of the heads, or fewer rows; --layers, --heads, --rows and --reduce override that.
Examples:
  fovea attend model.fovea --text "The cat sat." --text "So did the dog."
  fovea attend model.fovea --document letter.txt -o letter.html
  fovea attend model.fovea --pair "Who sat?" "The cat sat." --layers 0,2-5 --reduce mean
  fovea attend writer.fovea --prompt "Section: games" --max-tokens 40
  fovea attend dates.fovea --source 20JAN19 --json dates.json
  fovea attend --from taps.safetensors --svg head.svg --view map --layer 3 --head 2
  fovea attend vit.fovea --image cat.png
  fovea attend clip.fovea --image cat.png --text "a cat" --text "a dog")");
  command.Runs([=] { Run(*arguments, console); });
}

}  // namespace fovea::tools
