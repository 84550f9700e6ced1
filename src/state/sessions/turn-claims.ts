import { isClaimed, type StoredJob, unclaimedJob } from "./turn-job.js";

interface Claim {
  /** Of the job's row: once it was written anew, nobody has it. */
  readonly version: number;
  readonly claim: string;
  readonly claimedUntilMs: number;
}

/** Claims on turns of a process that has the engine to itself: known to it alone, written nowhere, and gone with it. */
export class TurnClaims {
  readonly #claims = new Map<string, Claim>();

  /** Those that ended may be among them. */
  get size(): number {
    return this.#claims.size;
  }

  /** The job, with who has it now. What its row says of that is of a process that is gone. */
  of(partition: string, stored: StoredJob): StoredJob {
    const held = this.#claims.get(nameOf(partition, stored));
    const job = unclaimedJob(stored.job);
    if (held === undefined || held.version !== stored.version) return { ...stored, job };
    return { ...stored, job: { ...job, claim: held.claim, claimedUntilMs: held.claimedUntilMs } };
  }

  /** Of these jobs, which say who is to have them, those that nobody has are theirs from now on. */
  take(partition: string, jobs: readonly StoredJob[], engineNowMs: number): readonly StoredJob[] {
    for (const [name, { claimedUntilMs }] of this.#claims) if (claimedUntilMs < engineNowMs) this.#claims.delete(name);
    const free = jobs.filter((stored) => !isClaimed(this.of(partition, stored).job, engineNowMs));
    for (const stored of free) this.#put(partition, stored);
    return free;
  }

  /** False where the job is not had by this claim. */
  renew(
    partition: string,
    stored: StoredJob,
    claim: string,
    renewed: { readonly claim: string; readonly claimedUntilMs: number },
  ): boolean {
    if (this.of(partition, stored).job.claim !== claim) return false;
    this.#put(partition, { ...stored, job: { ...stored.job, ...renewed } });
    return true;
  }

  /** `claim`: only where the job is had by it. Default: whoever has it. */
  letGo(partition: string, stored: Pick<StoredJob, "key">, claim?: string): void {
    const name = nameOf(partition, stored);
    if (claim === undefined || this.#claims.get(name)?.claim === claim) this.#claims.delete(name);
  }

  #put(partition: string, stored: StoredJob): void {
    const { claim = "", claimedUntilMs = 0 } = stored.job;
    this.#claims.set(nameOf(partition, stored), { version: stored.version, claim, claimedUntilMs });
  }
}

function nameOf(partition: string, { key }: Pick<StoredJob, "key">): string {
  return `${partition} ${key}`;
}
