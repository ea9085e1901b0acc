"""The loop that vocabularies are trained by: the most frequent neighbours are joined, again and again."""

import collections
import heapq


def merges(split, freq, join):
    """Yields (pair, joined) in order, most frequent pair first, until no word has two pieces.

    `split`: the pieces of each word, which change as pairs are joined; `freq`: how often the word occurs;
    `join`: the piece that a pair becomes.
    """
    pair_count, where = collections.Counter(), collections.defaultdict(set)
    for i, pieces in enumerate(split):
        for pair in zip(pieces, pieces[1:]):
            pair_count[pair] += freq[i]
            where[pair].add(i)
    queue = [(-n, pair) for pair, n in pair_count.items()]
    heapq.heapify(queue)
    while queue:
        n, pair = heapq.heappop(queue)
        if -n != pair_count[pair]:
            continue  # counted before a merge changed it; the newer count is queued as well
        joined = join(*pair)
        yield pair, joined
        changed = set()
        for i in sorted(where.pop(pair)):
            old = split[i]
            for p in zip(old, old[1:]):
                pair_count[p] -= freq[i]
                changed.add(p)
            split[i] = replaced(old, pair, joined)
            for p in zip(split[i], split[i][1:]):
                pair_count[p] += freq[i]
                where[p].add(i)
                changed.add(p)
        for p in changed:
            if pair_count[p] > 0:
                heapq.heappush(queue, (-pair_count[p], p))
            else:
                del pair_count[p]


def replaced(pieces, pair, joined):
    """The pieces with each occurrence of the pair joined, from the left."""
    new, j = [], 0
    while j < len(pieces):
        if j + 1 < len(pieces) and (pieces[j], pieces[j + 1]) == pair:
            new.append(joined)
            j += 2
        else:
            new.append(pieces[j])
            j += 1
    return new
