// A decoder that copies, and keeps no texts: monotonic local attention (a window of one key around the step's number)
// reads one character after the other, and where the text is over it sees nothing.
#ifndef FOVEA_TESTS_TOOLS_COPIER_H_
#define FOVEA_TESTS_TOOLS_COPIER_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/tools/tiny_bert.h"

namespace fovea::test {

inline constexpr char kCopier[] = R"({
  "fovea": 1,
  "metadata": {
    "labels": ["", "a", "b", "c"], "generate.token": "token", "generate.scores": "scores", "generate.start": 0,
    "generate.stop_ids": 0, "generate.link.rows": "rows"
  },
  "tokenizer": {"type": "characters", "file": "characters.json", "pad_id": 0},
  "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}],
  "constants": [
    {"name": "table", "values": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1], "reshape": [4, 4]},
    {"name": "one", "values": [1]},
    {"name": "flat", "values": [0, 0, 0, 0], "reshape": [4, 1]}
  ],
  "programs": [{
    "name": "encode",
    "inputs": [{"name": "input_ids", "space": "tokens", "type": "i32"}],
    "operations": [{"op": "embed", "in": ["input_ids"], "tensors": ["table"], "out": "rows"}],
    "outputs": ["rows"]
  }, {
    "name": "decode",
    "inputs": [
      {"name": "token", "space": "texts", "type": "i32"},
      {"name": "t", "space": "texts", "width": 1, "carried": "t + 1"},
      {"name": "rows", "space": "tokens", "width": 4}
    ],
    "operations": [
      {"op": "linear", "in": ["t"], "tensors": ["one", "one"], "out": "t + 1"},
      {"op": "linear", "in": ["t"], "tensors": ["flat"], "out": "query"},
      {"op": "attention", "in": ["query", "rows", "rows", "t"], "out": "scores", "heads": 1, "pattern": "window",
       "left": 0, "right": 0, "centers": "positions"}
    ],
    "outputs": ["t + 1", "scores"]
  }]
})";

// Its blob, or that of such a graph.
inline std::string CopierBlob(const std::string& graph, const std::string& name) {
  const std::filesystem::path folder = Temporary(name);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "graph.json") << graph;
  std::ofstream(folder / "characters.json") << R"(["\n", "a", "b", "c"])";
  const std::string blob = Temporary(name + ".fovea");
  const CommandResult made = Fovea({"convert", (folder / "graph.json").string(), "-o", blob, "--weights", "f32"});
  EXPECT_EQ(made.status, 0) << made.err;
  return blob;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_TOOLS_COPIER_H_
