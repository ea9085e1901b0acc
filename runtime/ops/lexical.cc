// Lexical relevance of each segment of a document to the document's query. Terms are ids; there are N segments s of |s|
// ids, n on average; term t occurs in df(t) segments, tf(t, s) times in s and qf(t) times in the query.
//
//   bm25:  sum over t of qf idf tf (k1 + 1) / (tf + k1 (1 - b + b |s| / n)),  idf = ln(1 + (N - df + 0.5) / (df + 0.5))
//   tfidf: cosine of the vectors tf idf and qf idf over all terms,            idf = ln((1 + N) / (1 + df)) + 1
//
// idf may instead be a constant table indexed by id. The score is 0 if no term is shared.
#include <math.h>
#include <string.h>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct LexicalOp : Op {
  LexicalKind kind = LexicalKind::kBm25;
  float k1 = 1.2f, b = 0.75f;
  const float* idf = nullptr;  // indexed by id, or null
  uint32_t idf_count = 0;      // entries of idf
  uint32_t ids_of[2] = {};     // the program's inputs that hold the ids

  bool all_terms() const { return kind == LexicalKind::kTfIdf; }  // otherwise only the terms of the query count
};

Status Lower(const OpView& view, Reporter& reporter, LexicalOp* op) {
  for (uint32_t i = 0; i < 2; ++i) {
    op->ids_of[i] = IdsOf(view, i);
    if (op->ids_of[i] == kBlobNone || op->inputs[i].width != 1) {
      return reporter.Fail(FOVEA_E_SHAPE, "ids must be i32 of width 1");
    }
  }
  if (view.InputSpace(0).parent != op->output.space || view.OutputSpace().parent != view.InputSpace(1).parent ||
      view.InputSpace(0).parent == kBlobNone) {
    return reporter.FailSpace("output must be in the parent space of ids and share its parent with query",
                              view.InputSpace(0).parent, op->output.space);
  }
  op->output.width = 1;
  FOVEA_TRY(ReadChoice(view, Attribute::kKind, "unknown kind of score", reporter, &op->kind));
  if (op->kind != LexicalKind::kBm25 && (view.Has(Attribute::kK1) || view.Has(Attribute::kB))) {
    return reporter.Fail(FOVEA_E_RECORD, "only kind bm25 has k1 and b");
  }
  op->k1 = view.F32(Attribute::kK1, op->k1);
  op->b = view.F32(Attribute::kB, op->b);
  if (!(op->k1 >= 0 && op->b >= 0 && op->b <= 1))
    return reporter.Fail(FOVEA_E_SHAPE, "k1 must be at least 0 and b from 0 to 1");
  if (!view.Has(TensorNumber(0))) return kOk;
  op->idf = view.Floats(0);
  op->idf_count = view.Tensor(0).width;
  return CheckFloats(view, 0, 1, op->idf_count, reporter);
}

struct Term {
  int32_t id;
  uint32_t in_query;  // qf: occurrences in the query
  uint32_t segments;  // df: segments that have it; 0 with in_query 0: free
  uint32_t last;      // last segment that had it, counted from 1
  uint32_t count;     // occurrences in that segment
  float idf;
};
constexpr uint64_t kSpread = 2;  // table entries per term

uint64_t ScratchOfSpaces(const LexicalOp& op, const SpaceLimits* spaces) {
  const uint64_t ids = op.all_terms() ? spaces[op.inputs[0].space].max_rows : 0;
  return (spaces[op.inputs[1].space].max_rows + ids) * kSpread * sizeof(Term);
}

// Hash table of terms by id, with linear probing.
class Terms {
 public:
  Terms(void* memory, uint64_t most) : terms_(static_cast<Term*>(memory)), count_(most * kSpread) {
    if (count_ != 0) memset(memory, 0, count_ * sizeof(Term));
  }

  // The term of an id, or the free entry for it; null if the table has no entries.
  Term* Find(int32_t id) const {
    if (count_ == 0) return nullptr;
    uint64_t place = (uint64_t{static_cast<uint32_t>(id) * 2654435769u} * count_) >> 32;
    while (!IsFree(terms_[place]) && terms_[place].id != id) place = place + 1 == count_ ? 0 : place + 1;
    return terms_ + place;
  }
  static bool IsFree(const Term& term) { return term.in_query == 0 && term.segments == 0; }

  template <typename F>
  void ForEach(F f) const {
    for (uint64_t i = 0; i < count_; ++i) {
      if (!IsFree(terms_[i])) f(terms_[i]);
    }
  }

 private:
  Term* terms_;
  uint64_t count_;
};

// One document: rows [begin, end) of the output's space.
class Document {
 public:
  Document(const LexicalOp& op, const OpRun& run, uint32_t index)
      : op_(op),
        run_(run),
        all_terms_(op.all_terms()),
        begin_(run.SegmentsOf(op.output).offsets[index]),
        end_(run.SegmentsOf(op.output).offsets[index + 1]),
        segments_(run.SegmentsOf(op.inputs[0]).offsets),
        query_(run.SegmentsOf(op.inputs[1]).offsets + index),
        terms_(run.scratch, uint64_t{query_[1] - query_[0]} + (all_terms_ ? segments_[end_] - segments_[begin_] : 0)) {}

  void Score() {
    CountTerms();
    WeighTerms();
    for (uint32_t s = begin_; s < end_; ++s) run_.output[s] = static_cast<float>(all_terms_ ? TfIdf(s) : Bm25(s));
  }

 private:
  // Calls f(term) for each id of segment s whose term counts.
  template <typename F>
  void ForEachTerm(uint32_t s, F f) const {
    for (uint32_t i = segments_[s]; i < segments_[s + 1]; ++i) {
      const int32_t id = run_.Indices(0)[i];
      Term* term = terms_.Find(id);
      if (term == nullptr || (Terms::IsFree(*term) && !all_terms_)) continue;
      term->id = id;
      f(*term);
    }
  }

  void CountTerms() {
    for (uint32_t i = query_[0]; i < query_[1]; ++i) {
      Term* term = terms_.Find(run_.Indices(1)[i]);
      term->id = run_.Indices(1)[i];
      ++term->in_query;
    }
    for (uint32_t s = begin_; s < end_; ++s) {
      ForEachTerm(s, [&](Term& term) {
        term.segments += term.last == s - begin_ + 1 ? 0 : 1;
        term.last = s - begin_ + 1;
      });
    }
  }

  void WeighTerms() {
    const float* table = op_.idf;
    const double all = end_ - begin_;
    double query = 0;
    terms_.ForEach([&](Term& term) {
      const double with = term.segments;
      const double idf = all_terms_ ? log((1 + all) / (1 + with)) + 1 : log(1 + (all - with + 0.5) / (with + 0.5));
      term.idf = table == nullptr ? static_cast<float>(idf) : table[term.id];
      term.last = 0;
      query += double{1} * term.in_query * term.in_query * term.idf * term.idf;
    });
    query_norm_ = sqrt(query);
  }

  // Number of occurrences of the term in segment s so far.
  uint32_t Before(Term& term, uint32_t s) const {
    if (term.last != s - begin_ + 1) term.count = 0;
    term.last = s - begin_ + 1;
    return term.count++;
  }

  double Bm25(uint32_t s) const {
    const double k1 = op_.k1, b = op_.b;
    const double mean = double{1} * (segments_[end_] - segments_[begin_]) / (end_ - begin_);
    const double length = segments_[s + 1] - segments_[s];
    const double slow = k1 * (1 - b + b * length / (mean > 0 ? mean : 1));
    const auto worth = [&](uint32_t count) { return count == 0 ? 0 : count * (k1 + 1) / (count + slow); };
    double score = 0;  // for the occurrences so far
    ForEachTerm(s, [&](Term& term) {
      const uint32_t before = Before(term, s);
      score += double{1} * term.in_query * term.idf * (worth(before + 1) - worth(before));
    });
    return score;
  }

  double TfIdf(uint32_t s) const {
    double norm = 0, product = 0;  // for the occurrences so far
    ForEachTerm(s, [&](Term& term) {
      const double square = double{term.idf} * term.idf;
      norm += square * (2.0 * Before(term, s) + 1);
      product += square * term.in_query;
    });
    return product == 0 ? 0 : product / (sqrt(norm) * query_norm_);
  }

  const LexicalOp& op_;
  const OpRun& run_;
  const bool all_terms_;
  const uint32_t begin_, end_;
  const uint32_t* segments_;
  const uint32_t* query_;
  const Terms terms_;
  double query_norm_ = 0;
};

Status Run(const LexicalOp& op, const OpRun& run) {
  const uint32_t documents = run.SegmentsOf(op.output).count;
  for (uint32_t i = 0; i < documents; ++i) Document(op, run, i).Score();
  return kOk;
}

IdLimit Ids(const LexicalOp& op, uint32_t i) { return {op.ids_of[i], op.idf_count}; }

constexpr Attribute kAttributes[] = {Attribute::kKind, Attribute::kK1, Attribute::kB};

}  // namespace

extern const OpDef kLexicalOp = DefineOp<OpCode::kLexical, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.unit = Unit::kAll;
  def.scratch_of_spaces = OfOp<ScratchOfSpaces>::Call;
  def.id_limit = OfOp<Ids>::Call;
});

}  // namespace fovea
