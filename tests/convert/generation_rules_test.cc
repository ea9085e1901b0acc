// Rules of generation in a description's metadata, and outputs that it renames.
#include "tools/convert/generation_rules.h"

#include <gtest/gtest.h>

#include "tests/convert/graph_support.h"
#include "tests/support/by_name.h"

namespace fovea::tools {
namespace {

Json Translator() {
  return Json::parse(R"({
    "fovea": 1,
    "metadata": {"generate.token": "token", "generate.scores": "scores", "generate.start": 1,
                 "generate.stop_ids": "0 3", "generate.max_tokens": 12, "generate.link.keys": "keys",
                 "generate.link.state": "last", "generate.alignment": "looked", "generate.suppress_ids": 2,
                 "generate.first_id": 1, "generate.last_id": 0, "generate.beams": 4,
                 "generate.length_penalty": 0.6, "generate.early_stopping": "never",
                 "generate.min_tokens": 2, "generate.no_repeat_ngram": 3, "generate.no_repeat_source_ngram": 2},
    "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}],
    "constants": [{"name": "table", "values": [1, 2, 3, 4, 5, 6, 7, 8], "reshape": [4, 2]}],
    "programs": [{
      "name": "encode",
      "inputs": [{"name": "input_ids", "space": "tokens", "type": "i32"}],
      "operations": [
        {"op": "embed", "in": ["input_ids"], "tensors": ["table"], "out": "rows"},
        {"alias": "keys", "of": "rows"},
        {"op": "pool", "in": ["keys"], "out": "pooled", "kind": "last"},
        {"alias": "last", "of": "pooled"}
      ],
      "outputs": ["keys", "last"]
    }, {
      "name": "decode",
      "inputs": [{"name": "token", "space": "texts", "type": "i32"},
                 {"name": "state", "space": "texts", "width": 2, "carried": "next"},
                 {"name": "keys", "space": "tokens", "width": 2}],
      "operations": [
        {"op": "embed", "in": ["token"], "tensors": ["table"], "out": "x"},
        {"op": "add", "in": ["x", "state"], "out": "sum"},
        {"op": "attention", "in": ["sum", "keys", "keys"], "out": "looked", "heads": 1},
        {"alias": "next", "of": "looked"},
        {"op": "linear", "in": ["next"], "tensors": ["table"], "out": "scores"}
      ],
      "outputs": ["next", "scores"]
    }]
  })");
}

TEST(Outputs, HaveTheNameTheyAreGivenBy) {
  const Resolved model = ResolveJson(Translator());
  const auto outputs = [&](size_t program) {
    std::vector<std::string> names;
    for (const BlobValue& value : model.content.programs[program].values) {
      if (value.role == ValueRole::kOutput) names.push_back(value.name);
    }
    return names;
  };
  EXPECT_EQ(outputs(0), (std::vector<std::string>{"keys", "last"}));
  EXPECT_EQ(outputs(1), (std::vector<std::string>{"next", "scores"}));
  // Operations keep their own names, by which taps find them.
  EXPECT_EQ(test::OperationFor(model.content.programs.at(1), "next").name, "looked");
  Json twice = Translator();
  twice["programs"][0]["operations"].push_back({{"alias", "again"}, {"of", "rows"}});
  twice["programs"][0]["outputs"].push_back("again");
  EXPECT_NE(Refusal(twice).find("outputs keys and again are one value"), std::string::npos) << Refusal(twice);
  twice["programs"][0]["outputs"] = {"rows", "keys", "last"};
  EXPECT_NE(Refusal(twice).find("listed twice"), std::string::npos) << Refusal(twice);
  Json input = Translator();
  input["programs"][0]["operations"].push_back({{"alias", "ids"}, {"of", "input_ids"}});
  input["programs"][0]["outputs"].push_back("ids");
  EXPECT_NE(Refusal(input).find("output ids is the input input_ids"), std::string::npos) << Refusal(input);
}

TEST(GenerationRules, FitThePrograms) {
  EXPECT_EQ(Refusal(Translator()), "nothing was refused");
  const auto said = [](const char* key, const Json& value) {
    Json json = Translator();
    json["metadata"][std::string("generate.") + key] = value;
    return Refusal(json);
  };
  EXPECT_EQ(said("token", "keys"), "metadata generate.token = \"keys\": it is not an input of ids");
  EXPECT_EQ(said("token", "none"), "metadata generate.token = \"none\": program decode has no value none");
  EXPECT_EQ(said("scores", "sum"), "metadata generate.scores = \"sum\": it is not an output of numbers");
  EXPECT_EQ(said("decode", "other"), "metadata generate.decode = \"other\": no program has this name");
  EXPECT_EQ(said("start", "one"),
            "metadata generate.start: a token must be a whole number from 0 to 2147483647, not \"one\"");
  EXPECT_EQ(said("start", "1 2"), "metadata generate.start = \"1 2\": must be a single token");
  EXPECT_EQ(said("stop_ids", "0 4"), "metadata generate.stop_ids: a token must be a whole number from 0 to 3, not 4");
  EXPECT_EQ(said("stop_ids", -1), "metadata generate.stop_ids: a token must be a whole number from 0 to 3, not \"-1\"");
  EXPECT_EQ(said("suppress_ids", "1 2"), "nothing was refused");
  EXPECT_EQ(said("bad_words", "1 2,3"), "nothing was refused");
  EXPECT_NE(said("bad_words", "1 4").find("bad_words: a token"), std::string::npos);
  EXPECT_NE(said("bad_words", "1,,2").find("no tokens"), std::string::npos);
  EXPECT_EQ(said("task.sum.up.beams", "4"), "nothing was refused");
  EXPECT_EQ(said("task.sum.prefix", "summarize: "), "nothing was refused");
  EXPECT_NE(said("task.sum.beams", "0").find("metadata generate.task.sum.beams must be"), std::string::npos);
  EXPECT_NE(said("task.sum.start", "1").find("unknown key"), std::string::npos);
  EXPECT_NE(said("task..beams", "1").find("no name"), std::string::npos);
  EXPECT_NE(said("task.beams", "1").find("no name"), std::string::npos);
  EXPECT_EQ(said("begin_suppress_ids", "1 2"), "nothing was refused");
  EXPECT_EQ(said("begin_suppress_ids", "4"),
            "metadata generate.begin_suppress_ids: a token must be a whole number from 0 to 3, not 4");
  EXPECT_EQ(said("suppress_ids", "many"),
            "metadata generate.suppress_ids: a token must be a whole number from 0 to 3, not \"many\"");
  EXPECT_EQ(said("max_tokens", -1),
            "metadata generate.max_tokens must be a whole number from 0 to 2147483647, not \"-1\"");
  EXPECT_EQ(said("max_tokens", 1.5),
            "metadata generate.max_tokens must be a whole number from 0 to 2147483647, not \"1.5\"");
  EXPECT_EQ(said("link.keys", "input_ids"),
            "metadata generate.link.keys = \"input_ids\": it is not an output of program encode");
  EXPECT_EQ(said("link.keys", "rows"), "metadata generate.link.keys = \"rows\": program encode has no value rows");
  EXPECT_EQ(said("link.token", "keys"), "metadata generate.link.token = \"keys\": token has another width or type");
  EXPECT_EQ(said("link.sum", "keys"), "metadata generate.link.sum = \"keys\": sum is not an input of program decode");
  EXPECT_EQ(said("alignment", "sum"),
            "metadata generate.alignment = \"sum\": program decode has no attention operation of this name");
  EXPECT_EQ(said("first_id", "1 2"), "metadata generate.first_id = \"1 2\": must be a single token");
  EXPECT_EQ(said("last_id", 4), "metadata generate.last_id: a token must be a whole number from 0 to 3, not 4");
  EXPECT_EQ(said("suppress_ids", "1 4"),
            "metadata generate.suppress_ids: a token must be a whole number from 0 to 3, not 4");
  EXPECT_EQ(said("beams", 257), "metadata generate.beams must be a whole number from 1 to 256, not 257");
  EXPECT_EQ(said("length_penalty", "long"), "metadata generate.length_penalty = \"long\": it is not a number");
  EXPECT_EQ(said("early_stopping", "soon"),
            "metadata generate.early_stopping = \"soon\": must be true, false or never");
  EXPECT_EQ(said("stat", "1"), "metadata generate.stat = \"1\": unknown key");
}

}  // namespace
}  // namespace fovea::tools
