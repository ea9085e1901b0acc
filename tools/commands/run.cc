// fovea run: runs a model on texts, sounds, images or tensors.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/run_pairs.h"
#include "tools/media/notes.h"
#include "tools/media/picture_inputs.h"
#include "tools/media/sound_inputs.h"
#include "tools/model/growing_session.h"
#include "tools/prediction/prediction.h"
#include "tools/prediction/prompts.h"
#include "tools/prediction/word_weights.h"
#include "tools/run/explanation.h"
#include "tools/run/results.h"
#include "tools/run/segmentation.h"
#include "tools/tensors/padded_inputs.h"
#include "tools/tensors/padded_outputs.h"
#include "tools/text/text_inputs.h"
#include "tools/text/text_progress.h"
#include "tools/text/text_windows.h"
#include "tools/text/truncation.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  TextArguments text;
  PairArguments pairs;
  std::string program, input, output, prompt_name;
  std::vector<std::string> sounds, pictures, values;
  uint32_t workers = 1;
  PredictionOptions prediction;
  uint32_t max_length = 0;
  uint32_t explain = 3;
  bool wrapped = false;
  bool trace = false;
  uint32_t taps = FOVEA_TAP_DENSE;
  uint32_t batch = BatchLimits().texts;
  ListForm json = ListForm::kText;
};

void CheckTensorOptions(const Arguments& arguments) {
  if (!arguments.output.empty() || arguments.trace || !arguments.values.empty()) {
    Fail("--output, --trace and --values need --input");
  }
}

void RunTensors(const Arguments& arguments, Console* console) {
  const Model model = arguments.model.Open();
  const uint32_t program = model.FindProgram(arguments.program);
  const SafetensorsReader input(arguments.input);
  const Batch batch = BatchFromTensors(model, program, input.tensors());
  const Results results = ResultsOf(model, program, arguments.trace, arguments.values);
  for (const std::string& why : results.left_out) console->err << "fovea: left out: " << Printable(why) << "\n";
  SessionRequest request;
  request.program = program;
  request.workers = arguments.workers;
  for (const auto& [name, value] : results.values) {
    const bool kept = std::count(request.keep.begin(), request.keep.end(), value) != 0;
    if (model.Value(program, value).role != FOVEA_ROLE_OUTPUT && !kept) request.keep.push_back(value);
  }
  for (const auto& [name, step] : results.attentions) {
    request.taps.push_back(TapOf(step, arguments.taps));
  }
  Session session = SessionFor(model, batch, request);
  session.Run();

  SafetensorsWriter writer;
  OrderedJson summary = OrderedJson::array();
  const auto add = [&](const OutputTensor& tensor) {
    if (!arguments.output.empty()) writer.AddFloats(tensor.name, tensor.shape, tensor.values.data());
    const auto [least, most] = std::minmax_element(tensor.values.begin(), tensor.values.end());
    OrderedJson entry = {{"name", tensor.name}, {"shape", tensor.shape}};
    if (!tensor.values.empty()) {
      entry["min"] = *least;
      entry["max"] = *most;
    }
    summary.push_back(entry);
    if (arguments.json != ListForm::kText) return;
    console->out << fmt::format("{:<20} {:<20}", Printable(tensor.name), ShapeText(tensor.shape));
    if (!tensor.values.empty()) console->out << fmt::format(" {:.5g} .. {:.5g}", *least, *most);
    console->out << "\n";
  };
  for (const auto& [name, value] : results.values) add(PaddedValue(model, session, batch, value, name));
  for (uint32_t tap = 0; tap < results.attentions.size(); ++tap) {
    const std::string& name = results.attentions[tap].first;
    if (arguments.taps == FOVEA_TAP_DENSE) {
      add(PaddedAttention(model, session, batch, tap, name));
      continue;
    }
    const SparseAttentionMap weights = session.SparseMap(tap);
    if (!arguments.output.empty()) {
      writer.AddIntegers(name + ".row_offsets", {weights.row_offsets.size()}, weights.row_offsets.data());
      writer.AddIntegers(name + ".keys", {weights.keys.size()}, weights.keys.data());
    }
    add({name + ".values", {weights.values.size()}, weights.values, {}});
  }
  if (!arguments.output.empty()) writer.Write(arguments.output);
  PrintList(console->out, arguments.json, summary);
}

void RunTextsCommand(const Arguments& arguments, Console* console) {
  CheckTensorOptions(arguments);
  const Model model = arguments.model.Open();
  RefuseGenerators(model);
  const Tokenizer tokenizer(model);
  const uint32_t program = FindTextProgram(model, arguments.program);
  const Explainer explainer(model, program);
  PredictionOptions how = arguments.prediction;
  how.sparse = how.sparse || MakesWordWeights(model);
  const bool embeds = how.sparse || TaskOf(model, program) == OutputTask::kEmbedding;
  if (!embeds && !arguments.prompt_name.empty()) Fail("{}: makes no embeddings; leave out --prompt-name", model.name());
  const Prompt prompt = embeds ? ChoosePrompt(model, arguments.prompt_name) : Prompt();
  PrintPrompt(NoteOf(prompt), console->err);
  SessionRequest request;
  request.program = program;
  request.workers = arguments.workers;
  if (arguments.explain != 0) request.taps = explainer.taps();
  TextSource source(arguments.text);
  TextProgress progress(console->err);
  Truncations cuts;
  JsonList list(console->out, arguments.json);
  std::vector<OrderedJson> window;
  WindowSteps steps;
  steps.next = [&]() -> std::optional<EncodedText> {
    std::optional<std::string> text = source.Next();
    if (!text) return std::nullopt;
    Tokens tokens = EncodeFor(model, tokenizer, program, prompt.Before(*text), arguments.max_length, arguments.wrapped);
    cuts.Add(tokens);
    return EncodedText{std::move(*text), std::move(tokens)};
  };
  steps.begin = [&](size_t texts) {
    window.assign(texts, OrderedJson());
    progress.Begin(texts, source.Share());
  };
  steps.read = [&](const TextBatch& batch) {
    OrderedJson predictions = Predict(model, tokenizer, batch.session, batch.texts, batch.tokens, how);
    std::vector<OrderedJson> reasons;
    if (arguments.explain != 0) {
      reasons = explainer.Explain(tokenizer, batch.session, prompt.Before(batch.texts), batch.tokens);
    }
    for (size_t i = 0; i < batch.which.size(); ++i) {
      if (!prompt.text.empty()) predictions[i]["prompt"] = prompt.name;
      if (arguments.explain != 0) predictions[i].update(reasons[i]);
      window[batch.which[i]] = std::move(predictions[i]);
    }
    progress.Add(batch.which.size());
  };
  steps.end = [&] {
    progress.Clear();
    for (const OrderedJson& prediction : window) {
      list.Add(prediction);
      if (arguments.json != ListForm::kText) continue;
      PrintPrediction(console->out, prediction);
      PrintExplanation(console->out, prediction, arguments.explain);
    }
  };
  if (RunInWindows(model, request, {arguments.batch}, steps) == 0) Fail("no text given");
  progress.Clear();
  PrintTruncations(cuts, console->err);
  list.End();
}

void PrintMedia(const std::vector<OrderedJson>& predictions, ListForm form, JsonList* list, Console* console) {
  for (const OrderedJson& prediction : predictions) {
    list->Add(prediction);
    if (form == ListForm::kText) PrintPrediction(console->out, prediction);
  }
  console->out << std::flush;
}

void RunSounds(const Arguments& arguments, Console* console) {
  CheckTensorOptions(arguments);
  const Model model = arguments.model.Open();
  RefuseGenerators(model);
  const uint32_t program = model.FindProgram(arguments.program);
  const std::optional<SoundInput> input = FindSoundInput(model, program);
  if (!input)
    Fail("{}: program '{}' does not read audio; leave out --wav or give another --program", model.name(),
         model.Program(program).name);
  SessionRequest request;
  request.program = program;
  request.workers = arguments.workers;
  GrowingSession sessions(model, request);
  JsonList list(console->out, arguments.json);
  for (size_t next = 0; next < arguments.sounds.size();) {
    std::vector<Sound> sounds;
    std::vector<OrderedJson> predictions;
    size_t samples = 0;
    for (; next < arguments.sounds.size() && sounds.size() < kSoundsOfWindow && samples < kSamplesOfWindow; ++next) {
      const std::string& file = arguments.sounds[next];
      double seconds = 0;
      sounds.push_back(ReadClip(file, *input, &seconds));
      samples += sounds.back().samples.size();
      predictions.push_back({{"file", file}, {"seconds", seconds}});
      if (!sounds.back().notes.empty()) predictions.back()["notes"] = sounds.back().notes;
      PrintNotes(console->err, file, sounds.back().notes);
    }
    Session& session = sessions.For(BatchFromSounds(model, *input, program, sounds));
    session.Run();
    PredictMedia(model, session, arguments.prediction, predictions);
    PrintMedia(predictions, arguments.json, &list, console);
  }
  list.End();
}

void RunPictures(const Arguments& arguments, bool all, Console* console) {
  const Model model = arguments.model.Open();
  RefuseGenerators(model);
  const bool segments = SegmentsPictures(model);
  if (!segments || arguments.trace || !arguments.values.empty()) CheckTensorOptions(arguments);
  if (!arguments.output.empty() && arguments.pictures.size() > 1) {
    Fail("--output writes the mask of one image; give one --image");
  }
  JsonList list(console->out, arguments.json);
  std::map<size_t, OrderedJson> window;  // by the index of the image
  PictureSteps steps;
  steps.read = [&](const PictureRun& run) {
    std::vector<OrderedJson> entries;
    for (size_t i = 0; i < run.which.size(); ++i) {
      entries.push_back({{"file", arguments.pictures[run.which[i]]},
                         {"height", run.sizes[i].height},
                         {"width", run.sizes[i].width},
                         {"program", model.Program(run.program).name}});
    }
    if (segments) {
      AddSegments(model, run, all ? UINT32_MAX : arguments.prediction.top, arguments.output, entries);
    } else {
      PredictMedia(model, run.session, arguments.prediction, entries);
    }
    for (size_t i = 0; i < entries.size(); ++i) window[run.which[i]] = std::move(entries[i]);
  };
  steps.end = [&](size_t) {
    std::vector<OrderedJson> predictions;
    for (auto& entry : window) predictions.push_back(std::move(entry.second));
    window.clear();
    PrintMedia(predictions, arguments.json, &list, console);
  };
  RunPictureFiles(model, arguments.program, arguments.pictures, arguments.workers, steps);
  list.End();
}

}  // namespace

void AddRun(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kResults, "run", "Run a model on texts, sounds, images or tensors");
  const Options input = command.Under(Heading::kInput);
  const Options output = command.Under(Heading::kOutput);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  arguments->text.AddTo(command);
  arguments->model.AddLiteral(command);
  arguments->pairs.AddTo(command);
  const Option tensors =
      input.Add("--input", &arguments->input, "Read the inputs from a safetensors file instead").Placeholder("FILE");
  tensors.Excludes("--text").Excludes("--document").Excludes("--file");
  const Option sounds =
      input
          .AddRepeated("--wav", &arguments->sounds,
                       "Audio file instead: WAV, or FLAC, MP3, Ogg by libsndfile; '-': standard input")
          .Placeholder("FILE");
  sounds.Excludes(tensors).Excludes("--text").Excludes("--document").Excludes("--file");
  const Option pictures =
      input.AddRepeated("--image", &arguments->pictures, "Image file instead: PNG, JPEG, WebP, GIF or BMP")
          .Placeholder("FILE");
  pictures.Excludes(tensors).Excludes(sounds).Excludes("--text").Excludes("--document").Excludes("--file");
  for (const Option& other : {tensors, sounds, pictures}) {
    other.Excludes("--pair").Excludes("--pairs").Excludes("--question").Excludes("--labels");
  }
  output
      .Add("-o,--output", &arguments->output,
           "With --input: write the results as safetensors to FILE; with --image: a segmentation's mask as PNG")
      .Placeholder("FILE");
  output.AddFlag("--trace", &arguments->trace, "With --input: also output hidden_states.N and attentions.N");
  output
      .AddRepeated("--values", &arguments->values,
                   "With --input: also output values and attention operations of this name; * matches anything")
      .Placeholder("NAME");
  output
      .AddChoice<uint32_t>("--taps", &arguments->taps, {{"dense", FOVEA_TAP_DENSE}, {"sparse", FOVEA_TAP_SPARSE}},
                           "Form of attention maps: padded matrices, or sparse: attentions.N.{row_offsets,keys,values}")
      .ShowDefault();
  output.Add("--top", &arguments->prediction.top, "Print the N likeliest classes or words")
      .Range(1, 1000000)
      .ShowDefault();
  AddDimensions(command, &arguments->prediction.dimensions);
  output.AddFlag("--sparse", &arguments->prediction.sparse,
                 "Print a masked language model's sparse word weights (SPLADE)");
  output
      .AddChoice<bool>("--tags", &arguments->prediction.tokens, {{"spans", false}, {"tokens", true}},
                       "Print tagged spans of the text, or the tag of each token")
      .ShowDefault();
  output
      .AddChoice<uint32_t>("--aggregate", &arguments->prediction.aggregation,
                           {{"simple", FOVEA_AGGREGATION_SIMPLE},
                            {"first", FOVEA_AGGREGATION_FIRST},
                            {"average", FOVEA_AGGREGATION_AVERAGE},
                            {"max", FOVEA_AGGREGATION_MAX}},
                           "Tag of a word in spans: of each token (simple), of its first token, of the mean of the\n"
                           "tokens' probabilities, or of the token with the highest probability (max)")
      .ShowDefault();
  AddPromptName(command, &arguments->prompt_name);
  AddMaxLength(command, &arguments->max_length);
  output
      .Add("--explain", &arguments->explain,
           "Print N sentences and words with the largest attention pooling weights; 0: none")
      .ShowDefault();
  input.AddFlag("--wrapped", &arguments->wrapped,
                "Lines of documents are wrapped; without it each line ends a sentence");
  AddProgram(command, &arguments->program);
  AddWorkers(command, &arguments->workers);
  AddTextBatch(command, &arguments->batch);
  AddJsonList(command, &arguments->json);
  command.Footer(
      R"(Texts, sounds and images give classes, tagged spans, words for the mask token or embeddings, depending on the
task of the model. A document model reads a text sentence by sentence; the output names the sentences and words that
its class is due to.
A segmentation model prints the classes of the pixels by their share of the image (all of them without --top); --output
writes an image of the same size whose pixels are the indices of classes, with a palette.
Two texts are one input with --pair: a model that ranks passages prints the score that the original prints (config.json
names its function), one for multiple choice a probability for each choice. If both are too long, the longer one is cut.
An answer to --question is a span of whole words; its score is the probability of its start times that of its end. A
context that is too long is read in parts of 384 tokens (or --max-length), which share --stride tokens. Positions are
bytes of the context, with --json also characters (code points).
Tensors have the usual names (input_ids, attention_mask, token_type_ids: [batch, sequence]; pixel_values: [batch,
channels, height, width]) or those of the program's inputs. Padding at the ends of the mask is not computed; results
are padded with zeros. With segments.<space>, the rows of each segment, for every input space with a parent, nothing is
padded: inputs and results are [rows, width]. Sparse attention weights have no padding: one line for each query row and
head, keys numbered through the batch, only keys whose weight is not 0.
Examples:
  fovea run model.fovea --text "What a lovely day"
  fovea run model.fovea --file lines.txt --workers 4 --jsonl
  fovea run model.fovea --document letter.txt --explain 5
  fovea run reranker.fovea --text "how tall is it" --pair "It is 300 m high." --pair "It is in Paris."
  fovea run squad.fovea --question "Where is it?" --context "The tower is in Paris." --top 3
  fovea run mnli.fovea --text "The match ended 2:1" --labels "sports, politics" --hypothesis "This is about {}."
  fovea run model.fovea --wav yes.wav
  fovea run model.fovea --image cat.jpg --image dog.png --top 3
  fovea run segformer.fovea --image street.jpg --output mask.png
  fovea run model.fovea --input in.safetensors --output out.safetensors --trace)");
  command.Runs([=] {
    if (!arguments->input.empty()) return RunTensors(*arguments, console);
    if (!arguments->sounds.empty()) return RunSounds(*arguments, console);
    if (!arguments->pictures.empty()) return RunPictures(*arguments, !command.Given("--top"), console);
    if (arguments->pairs.Given()) {
      CheckTensorOptions(*arguments);
      const TextRunOptions run = {arguments->workers, arguments->max_length};
      return RunPairsCommand({&arguments->model,
                              &arguments->text,
                              &arguments->pairs,
                              arguments->prediction,
                              command.Given("--top"),
                              run,
                              arguments->program,
                              arguments->json,
                              {arguments->batch}},
                             console);
    }
    if (!arguments->text.Given()) Fail("no input; give --text, --file, --wav, --image or --input");
    RunTextsCommand(*arguments, console);
  });
}

}  // namespace fovea::tools
