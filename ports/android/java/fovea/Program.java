package fovea;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** An entry point of a model. */
public final class Program {
  /** A ragged batch dimension: segment i of a space is row i of its parent. */
  public static final class Space {
    public final String name;
    /** Position of the parent in Model.spaces(); -1: all rows are one segment. */
    public final int parent;
    /** Whether a caller sets its segments. */
    public final boolean isInput;
    /** Whether its rows are a KV cache. */
    public final boolean isCached;
    /** The longest segment that the model supports; -1: any. */
    public final int maxSegmentRows;

    Space(String name, int[] numbers, int at) {
      this.name = name;
      parent = numbers[at];
      isInput = numbers[at + 1] != 0;
      maxSegmentRows = numbers[at + 2];
      isCached = numbers[at + 3] != 0;
    }

    @Override
    public String toString() {
      return "fovea.Space " + name;
    }
  }

  /** A matrix that a program reads, computes or writes: rows of a space. */
  public static final class Value {
    static final int F32 = 0, I32 = 4;
    public final String name;
    public final int space;
    public final int width;
    public final boolean isInput;
    public final boolean isOutput;
    /** Whether a run gets it from the run before. */
    public final boolean isCarried;
    final int type;
    final int index;

    Value(String name, int index, int[] numbers) {
      final int at = 6 * index;
      this.name = name;
      this.index = index;
      space = numbers[at];
      width = numbers[at + 1];
      type = numbers[at + 2];
      isInput = numbers[at + 3] == 1;
      isOutput = numbers[at + 3] == 2;
      isCarried = numbers[at + 4] >= 0;
    }

    @Override
    public String toString() {
      return "fovea.Value " + name + " [rows, " + width + "]";
    }
  }

  /** One operation. */
  public static final class Operation {
    public final String name;
    /** Its kind: "linear", "attention", ... */
    public final String op;
    /** For attention, else 0. */
    public final int heads;

    Operation(String name, String op, int heads) {
      this.name = name;
      this.op = op;
      this.heads = heads;
    }

    @Override
    public String toString() {
      return "fovea.Operation " + name + ": " + op;
    }
  }

  public final String name;
  public final List<Value> values;
  public final List<Operation> operations;
  final int index;

  Program(long model, String name, int index) {
    this.name = name;
    this.index = index;
    final String[] names = Native.texts(Native.modelNames(model, 4, index));
    final int[] numbers = Native.programValues(model, index);
    final List<Value> listed = new ArrayList<>();
    for (int i = 0; i < names.length; ++i) listed.add(new Value(names[i], i, numbers));
    values = Collections.unmodifiableList(listed);
    final String[] steps = Native.texts(Native.modelNames(model, 5, index));
    final int[] heads = Native.programSteps(model, index);
    final List<Operation> found = new ArrayList<>();
    for (int i = 0; 2 * i < steps.length; ++i) found.add(new Operation(steps[2 * i], steps[2 * i + 1], heads[i]));
    operations = Collections.unmodifiableList(found);
  }

  /** Names of the outputs. */
  public List<String> outputs() {
    final List<String> found = new ArrayList<>();
    for (Value value : values) {
      if (value.isOutput) found.add(value.name);
    }
    return found;
  }

  /** Names of the operations whose attention can be looked at. */
  public List<String> attentions() {
    final List<String> found = new ArrayList<>();
    for (Operation one : operations) {
      if (one.op.equals("attention")) found.add(one.name);
    }
    return found;
  }

  Value output(String wanted) {
    for (Value value : values) {
      if (value.isOutput && value.name.equals(wanted)) return value;
    }
    return null;
  }

  @Override
  public String toString() {
    return "fovea.Program " + name + ": " + operations.size() + " operations, outputs " + String.join(", ", outputs());
  }
}
