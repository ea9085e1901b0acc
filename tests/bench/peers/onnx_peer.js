// ONNX Runtime as one of the programs that peers.py runs in turns (turns.py lists the requests and replies).
//   node onnx_peer.js FOLDER_OF_PACKAGES MODEL THREADS
"use strict";
const fs = require("fs");
const readline = require("readline");
const { createRequire } = require("module");

const [packages, model, threads] = process.argv.slice(2);
const ort = createRequire(packages + "/")("onnxruntime-node");

function statusBytes(key) {
  return 1024 * Number(new RegExp(`^${key}:\\s*(\\d+)`, "m").exec(fs.readFileSync("/proc/self/status", "latin1"))[1]);
}

async function main() {
  const before = statusBytes("VmRSS");
  const start = process.hrtime.bigint();
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ["cpu"],
    graphOptimizationLevel: "all",
    executionMode: "sequential",
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    extra: { session: { set_denormal_as_zero: "1" } },
  });
  const milliseconds = (from) => Number(process.hrtime.bigint() - from) / 1e6;
  console.log(`${milliseconds(start)} ONNX Runtime ${ort.env.versions.node}`);
  let feeds, result;
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [word, ...rest] = line.split(" ");
    if (word === "ids") {
      feeds = { input_ids: new ort.Tensor("int32", Int32Array.from(rest, Number), [1, rest.length]) };
      console.log("ok");
    } else if (word === "run") {
      const begin = process.hrtime.bigint();
      const used = process.cpuUsage();
      result = await session.run(feeds);
      const { user, system } = process.cpuUsage(used);
      console.log(`${milliseconds(begin)} ${(user + system) / 1e3}`);
    } else if (word === "write") {
      const { data } = result.last_hidden_state;
      fs.writeFileSync(rest[0], Buffer.from(data.buffer, data.byteOffset, data.byteLength));
      console.log("ok");
    } else if (word === "memory") {
      console.log(statusBytes("VmHWM") - before);
    } else {
      throw new Error(`unknown: ${line}`);
    }
  }
}

main().catch((error) => {
  console.error(`onnx_peer: ${error.message}`);
  process.exit(1);
});
