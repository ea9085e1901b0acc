// The parts that a tile of query rows is cut into.
#ifndef FOVEA_RUNTIME_ATTENTION_PIECE_H_
#define FOVEA_RUNTIME_ATTENTION_PIECE_H_

#include <stdint.h>

namespace fovea {

// Queries [first, first + count) of one segment against that segment's keys.
struct Piece {
  uint32_t first, count;  // positions
  uint32_t row;           // row of the first query in the query space
  uint32_t start;         // position of the segment's first query
  uint32_t keys;          // length of the key segment
  uint32_t key_row;       // row of the segment's first key in the key space
  uint32_t segment;
};

// One row of a tile: a query and a head.
struct RowPlace {
  const Piece& piece;
  uint32_t position;  // of the query
  uint32_t row;       // of the query in the query space
  uint32_t head;
  uint32_t index;  // in the tile
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_PIECE_H_
