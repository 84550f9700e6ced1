import type { Domain } from "../ports/agent.js";
import type { StateEngine } from "../state/engine.js";
import type { Gate } from "./constraint-gate.js";

export interface DomainParts {
  /** Where its own records go, beside all else that is kept of an owner. */
  readonly engine: StateEngine;
  readonly gate: Gate;
}

/** A domain that is opened over the product: it keeps records of its own, or holds its bookings against the gate itself. */
export interface DomainToOpen extends Pick<Domain, "categories" | "recall" | "needs" | "limits" | "needTalk"> {
  open(parts: DomainParts): Promise<Domain>;
}
