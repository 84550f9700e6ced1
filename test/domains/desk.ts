import { afterEach, beforeEach } from "vitest";
import type { Domain, Maitred, MaitredUser } from "../../src/index.js";
import { createMaitred } from "../../src/index.js";
import { tempDir } from "../e2e/world.js";
import { TaskModel } from "../support/task-model.js";

/** What a message names, and what a model makes of it. */
export interface Heard {
  readonly about: string;
  readonly need: string;
  readonly text: string;
}

type Call = readonly [name: string, input: object];

/** A domain over the public API, for each test of a file with a guest who is new. */
export interface DomainDesk {
  /** A turn of the guest's session in which the model calls these tools. Returns what each was answered with. */
  says(message: string, ...calls: readonly Call[]): Promise<readonly unknown[]>;
  /** Once what was said is remembered, another session begins. */
  leaves(): Promise<void>;
  readonly maitred: Maitred;
  readonly model: TaskModel;
}

/**
 * With a model that does what a model could do, wrong things too. It reads each need that a message names, as a companion's where that
 * is said (`companions`: by their words, "my son", their names).
 */
export function openDesk(domain: Domain, heard: readonly Heard[], companions: Readonly<Record<string, string>> = {}): DomainDesk {
  let maitred: Maitred;
  let guest: MaitredUser;
  let guests = 0;
  let sessionId: string | undefined;
  const model = new TaskModel();
  model.read = ({ MESSAGE }) => {
    const companion = Object.entries(companions).find(([words]) => MESSAGE.includes(words))?.[1];
    const operations = heard
      .filter(({ about }) => MESSAGE.includes(about))
      .map(({ about, need, text }) => ({
        op: "add",
        quote: MESSAGE,
        text,
        about,
        category: "needs",
        need,
        strength: "hard",
        type: "constraint",
        stance: "stated",
        subject: companion === undefined ? "self" : `companion:${companion}`,
      }));
    return { off_record: null, operations };
  };
  beforeEach(async () => {
    maitred = await createMaitred({
      memoryStorageDir: await tempDir(),
      domain,
      model,
      embeddingProvider: "hashing",
      recallDeadlineMs: 30_000,
    });
    guests += 1;
    guest = maitred.for({ user: `guest-${guests}` });
    sessionId = undefined;
  });
  afterEach(() => maitred.close());
  return {
    says: async (message, ...calls) => {
      model.replies.push(...calls.map(([name, input]) => ({ name, arguments: input })), "Done as I can.");
      const answer = await guest.chat(message, sessionId === undefined ? {} : { sessionId });
      sessionId = answer.session_id;
      return answer.steps.map(({ output, error }) => output ?? error);
    },
    leaves: async () => {
      await guest.sessions.flush(sessionId ?? "");
      sessionId = undefined;
    },
    model,
    get maitred() {
      return maitred;
    },
  };
}
