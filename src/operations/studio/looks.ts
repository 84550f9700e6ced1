import type { Owner } from "../../domain/owner.js";
import type { Clock } from "../../platform/clock.js";
import type { Logger } from "../../platform/logger.js";
import type { OperatorLooks } from "../../ports/counters.js";
import type { OwnerLedger } from "../../ports/owner-ledger.js";

export interface LooksParts {
  readonly ledger: Pick<OwnerLedger, "audit">;
  readonly looks: OperatorLooks;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Writes down what the operator looks at, before they are shown it: at one user in that user's trail, at a list in the installation's. */
export class AuditedLooks {
  readonly #parts: LooksParts;

  constructor(parts: LooksParts) {
    this.#parts = parts;
  }

  /** @throws STORAGE_UNAVAILABLE: nobody looks unseen */
  async at(owner: Owner, what: string): Promise<void> {
    const { ledger, clock, logger } = this.#parts;
    await ledger.audit(owner, { at: clock.now().toISOString(), action: "look", by: "operator", receiptId: null, counts: { [what]: 1 } });
    logger.info({ what }, "the operator looked at a user");
  }

  /** @throws as {@link at} */
  atAll(what: string): Promise<void> {
    return this.#parts.looks.noted(what);
  }
}

/** A text as it may be shown, and beside it how long it is: each null where it isn't known. */
type ShownText<Name extends string> = { readonly [Field in Name]: string | null } & { readonly [Field in `${Name}_chars`]: number | null };

/** Whether texts are shown at all: the one place that decides it. */
export type ShowText = <Name extends string>(name: Name, text: string | null | undefined) => ShownText<Name>;

export function showsText(content: boolean): ShowText {
  return <Name extends string>(name: Name, text: string | null = null) =>
    ({ [name]: content ? text : null, [`${name}_chars`]: text === null ? null : text.length }) as ShownText<Name>;
}
