import { AppError } from "../platform/errors.js";
import type { MovableState } from "../ports/transfer.js";
import { committed } from "../state/durable-commit.js";
import type { Commit } from "../state/engine.js";
import { changedMeanwhile, type PartitionReader } from "./partition-reader.js";

type Put = NonNullable<Commit["puts"]>[number];

/** Writes to a partition that is being read, in commits within the engine's budget. */
export class PartitionWriter {
  readonly #state: MovableState;
  readonly #partition: string;
  readonly #reader: PartitionReader;
  #puts: Put[] = [];
  #deletes: string[] = [];
  #bytes = 0;
  #alarm: Pick<Commit, "dueAtMs"> = {};

  constructor(state: MovableState, partition: string, reader: PartitionReader) {
    this.#state = state;
    this.#partition = partition;
    this.#reader = reader;
  }

  async put(entry: Put): Promise<void> {
    const { maxValueBytes, maxCommitBytes } = this.#state.engine.manifest;
    const valueBytes = Buffer.byteLength(entry.value);
    const bytes = valueBytes + Buffer.byteLength(entry.key);
    if (valueBytes > maxValueBytes || bytes > maxCommitBytes)
      throw new AppError("COMMIT_TOO_LARGE", {
        detail: `${entry.key} (partition ${this.#partition}) is ${valueBytes} bytes; ${this.#state.name} keeps at most ${maxValueBytes}.`,
        hint: "Move to another store: this one keeps smaller values. The source is as it was.",
      });
    await this.#makeRoom(bytes);
    this.#puts.push(entry);
  }

  async delete(key: string): Promise<void> {
    await this.#makeRoom(Buffer.byteLength(key));
    this.#deletes.push(key);
  }

  setAlarm(dueAtMs: number | null): void {
    this.#alarm = { dueAtMs };
  }

  /** Writes what is left. `epochs`: by how many the epoch is to rise. */
  async end(epochs: number): Promise<void> {
    if (this.#puts.length + this.#deletes.length > 0 || this.#alarm.dueAtMs !== undefined) await this.#commit(epochs > 0);
    else if (epochs > 0) await this.#commit(true);
    for (let risen = 1; risen < epochs; risen += 1) await this.#commit(true);
  }

  async #makeRoom(bytes: number): Promise<void> {
    const { maxOperations, maxCommitBytes } = this.#state.engine.manifest;
    if (this.#puts.length + this.#deletes.length >= maxOperations || this.#bytes + bytes > maxCommitBytes) await this.#commit(false);
    this.#bytes += bytes;
  }

  async #commit(raisesEpoch: boolean): Promise<void> {
    const result = await committed(this.#state.engine, this.#partition, {
      version: this.#reader.head.version,
      puts: this.#puts,
      deletes: this.#deletes,
      ...this.#alarm,
      ...(raisesEpoch && { raisesEpoch }),
    });
    if (!result.ok) throw changedMeanwhile(this.#state, this.#partition);
    this.#reader.wrote(result.version);
    this.#puts = [];
    this.#deletes = [];
    this.#bytes = 0;
  }
}
