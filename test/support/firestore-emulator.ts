import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type ChildServer, openChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";

const IN_SDK = "platform/cloud-firestore-emulator/cloud-firestore-emulator.jar";

/** Google's emulator: by `FIRESTORE_EMULATOR_JAR`, or in a Google Cloud SDK; undefined where there is none. */
export const FIRESTORE_EMULATOR_JAR = [
  process.env.FIRESTORE_EMULATOR_JAR ?? "",
  ...(process.env.PATH ?? "").split(delimiter).map((bin) => join(dirname(bin), IN_SDK)),
  ...["/usr/lib", "/usr/share", "/opt", process.env.HOME ?? "/"].map((dir) => join(dir, "google-cloud-sdk", IN_SDK)),
].find((path) => path !== "" && existsSync(path));

export interface FirestoreEmulator extends ChildServer {
  /** `host:port`, as FIRESTORE_EMULATOR_HOST has it. */
  readonly host: string;
}

/** A Firestore of the test's own, in memory: one that is killed has lost all. Each project is another database. */
export async function openFirestoreEmulator(): Promise<FirestoreEmulator> {
  const port = await freePort();
  const server = await openChildServer({
    program: "java",
    args: [
      // It lives for seconds: what a thorough compiler gains it would not earn back.
      ...["-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"],
      ...["-cp", FIRESTORE_EMULATOR_JAR ?? "", "com.google.cloud.datastore.emulator.firestore.CloudFirestore"],
      ...["start", "--host=127.0.0.1", `--port=${port}`],
    ],
    dir: await mkdtemp(join(tmpdir(), "maitred-firestore-")),
    stopSignal: "SIGKILL",
    answers: () => answers(port),
  });
  return { ...server, host: `127.0.0.1:${port}` };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
