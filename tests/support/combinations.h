// Tables of cases, instead of loops within loops: a test names the parameters of a case in a struct, lists the cases in
// one flat table, and runs each of them by one function.
//
//   struct Case {
//     DType type;
//     uint32_t width;
//     bool bias;
//   };
//   for (const Case& c : Combinations<Case>(kTypes, std::vector{1u, 33u}, kOffAndOn)) ExpectSame(c);
//
// Where members of a case depend on each other, several tables are appended, or the cases are written out.
#ifndef FOVEA_TESTS_SUPPORT_COMBINATIONS_H_
#define FOVEA_TESTS_SUPPORT_COMBINATIONS_H_

#include <tuple>
#include <vector>

namespace fovea::test {

inline constexpr bool kOffAndOn[] = {false, true};

template <typename Case, typename... Members>
void AddCombinations(std::vector<Case>* cases, const std::tuple<Members...>& chosen) {
  cases->push_back(std::apply([](const auto&... members) { return Case{members...}; }, chosen));
}
template <typename Case, typename... Members, typename List, typename... Lists>
void AddCombinations(std::vector<Case>* cases, const std::tuple<Members...>& chosen, const List& list,
                     const Lists&... rest) {
  for (const auto& member : list) AddCombinations(cases, std::tuple_cat(chosen, std::make_tuple(member)), rest...);
}

// A case for every combination of members of the lists (vectors or arrays, one for each field of the struct, in its
// order). The last list varies fastest, as the innermost loop would.
template <typename Case, typename... Lists>
std::vector<Case> Combinations(const Lists&... lists) {
  std::vector<Case> cases;
  AddCombinations(&cases, std::tuple<>(), lists...);
  return cases;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_COMBINATIONS_H_
