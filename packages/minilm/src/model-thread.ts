import { parentPort, workerData } from "node:worker_threads";
import { SentenceModel } from "./sentence-model.js";
import type { ModelFiles, TextMessage, ThreadMessage } from "./thread-protocol.js";

const say = (message: ThreadMessage, moved: readonly ArrayBuffer[] = []) => parentPort?.postMessage(message, [...moved]);

const model = await SentenceModel.open(workerData as ModelFiles);
// The first text takes longest: nobody is to wait for it.
await model.vectorOf("warm");
parentPort?.on("message", async ({ id, text }: TextMessage) => {
  try {
    const vector = await model.vectorOf(text);
    say({ type: "vector", id, vector }, [vector.buffer]);
  } catch (error) {
    say({ type: "refusal", id, message: error instanceof Error ? error.message : "The model gave no vector." });
  }
});
say({ type: "ready" });
