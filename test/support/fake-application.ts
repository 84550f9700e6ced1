import type { Application } from "../../src/ports/application.js";
import type { Operator } from "../../src/ports/operator.js";

type Methods<T> = { readonly [K in keyof T]?: T[K] };

/** What a test expects of the application; anything else that is called throws. */
export interface Script {
  readonly chat?: Methods<Application["chat"]>;
  readonly ownAgent?: Methods<Application["ownAgent"]>;
  readonly sessions?: Methods<Application["sessions"]>;
  readonly memories?: Methods<Application["memories"]>;
  readonly history?: Methods<Application["history"]>;
  readonly imports?: Methods<Application["imports"]>;
  readonly privacy?: Methods<Application["privacy"]>;
  readonly events?: Methods<Application["events"]>;
  readonly identities?: Methods<Application["identities"]>;
  readonly seen?: Application["seen"];
  readonly user?: Application["user"];
  readonly readiness?: Application["readiness"];
  readonly info?: Partial<Application["info"]>;
}

const FAKE_INFO: Application["info"] = {
  version: "0.0.0-test",
  model: { name: "scripted", standIn: true },
  longTerm: { enabled: true, location: "local (vectors.db)" },
  embedder: { id: "hashing-768", lexical: true, dimension: 768, remote: false, problem: null },
  history: { backend: "local" },
  storageDir: "/nowhere",
  shortTerm: "file",
  keys: { OPENAI_API_KEY: false },
};

function strict<T extends object>(part: string, methods: Methods<T> = {}): T {
  return new Proxy(methods as T, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (method !== undefined || typeof name === "symbol") return method;
      return () => {
        throw new Error(`the application was not expected to be asked for ${part}.${name}`);
      };
    },
  });
}

/** An application that does what the script says and refuses everything else. `seen` alone may always be called. */
export function fakeApplication(script: Script = {}): Application {
  const refuse = (name: string) => () => {
    throw new Error(`the application was not expected to be asked for ${name}`);
  };
  return {
    chat: strict("chat", script.chat),
    ownAgent: strict("ownAgent", script.ownAgent),
    sessions: strict("sessions", script.sessions),
    memories: strict("memories", script.memories),
    history: strict("history", script.history),
    imports: strict("imports", script.imports),
    privacy: strict("privacy", script.privacy),
    events: strict("events", script.events),
    identities: strict("identities", { resolve: async (owner) => owner, ...script.identities }),
    seen: script.seen ?? (() => {}),
    user: script.user ?? refuse("user"),
    readiness: script.readiness ?? refuse("readiness"),
    warm: async () => {},
    info: { ...FAKE_INFO, ...script.info },
    modelOf: () => ({ ...FAKE_INFO, ...script.info }).model,
    close: refuse("close"),
  };
}

/** An operator's side that does what it is given and refuses everything else. */
export function fakeOperator({
  users,
  jobs,
  studio,
}: {
  readonly users?: Operator["users"];
  readonly jobs?: Methods<Operator["jobs"]>;
  readonly studio?: Methods<Operator["studio"]>;
} = {}): Operator {
  return {
    users: users ?? (() => Promise.reject(new Error("no users were to be listed"))),
    jobs: strict("jobs", jobs),
    studio: strict("studio", studio),
  };
}
