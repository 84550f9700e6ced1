import { runRetention } from "../after-turn/retention.js";
import type { WriteBackWorker } from "../after-turn/write-back-worker.js";
import { mergedEvent } from "../domain/event.js";
import type { RetentionPolicy } from "../domain/lifecycle.js";
import { type Owner, parseOwner } from "../domain/owner.js";
import type { ReceiptLog } from "../gate/receipt-log.js";
import { IdentityService } from "../identities/identities.js";
import { type MergeRecords, WordsLeft } from "../identities/merge-record.js";
import { ImportService } from "../import/import.js";
import { Promotion } from "../memories/promotion.js";
import { boundedSignal } from "../platform/bounded-signal.js";
import { LEASE_MS } from "../platform/held-lease.js";
import type { FormerSessionIds } from "../ports/session-names.js";
import { PrivacyService } from "../privacy/privacy.js";
import { ConversationLog } from "../sessions/conversation-log.js";
import { SessionCopies } from "../sessions/merged-sessions.js";
import { SessionService } from "../sessions/sessions.js";
import type { TurnRegistry } from "../turn/turn-registry.js";
import { Visits } from "../turn/visits.js";
import type { AfterTurn } from "./after-turn.js";
import type { Answering } from "./agent.js";
import type { Parts } from "./composed.js";
import type { LongTerm } from "./long-term.js";
import type { Recording } from "./recording.js";
import { type ByTenant, retentionOf } from "./tenants.js";
import type { Turns } from "./turn.js";
import { type Stores, upkeepGate, type Wiring } from "./wiring.js";

/** Longer than another process may hold on to a turn that it writes back, in milliseconds: no claim is renewed while an erasure is open. */
const CLAIMS_END_MS = 2 * LEASE_MS;

/** What else can be asked for, beside a turn. */
export interface UseCases {
  readonly sessions: SessionService;
  readonly privacy: PrivacyService;
  readonly promotion: Promotion;
  readonly imports: ImportService;
  readonly retention: Parts["retention"];
  readonly log: ConversationLog;
  readonly identities: IdentityService;
  readonly visits: Visits;
}

export function composeUseCases(
  { config, logger, clock, tenants }: Wiring,
  { store, ledger, writer, lagging, events, encryption, scrub }: Stores,
  { longTerm, merged, history, vectors }: LongTerm,
  { rest: { domain } }: ByTenant<Answering>,
  { upkeep, worker, writeBack, catchUps }: AfterTurn,
  {
    registry,
    receipts,
    archived,
    afterTurn,
    merges,
    former,
    recording: { records: turnRecords, conversations, plots, erasable },
  }: {
    readonly registry: TurnRegistry;
    readonly receipts: ReceiptLog;
    readonly archived: (owner: Owner) => Promise<void>;
    readonly afterTurn: Turns["afterTurn"];
    readonly merges: MergeRecords;
    readonly former: FormerSessionIds;
    readonly recording: Recording;
  },
): UseCases {
  const flush: WriteBackWorker["flush"] = async (owner, id, ...rest) => {
    await lagging.requireLevel(owner, id);
    return worker.flush(owner, id, ...rest);
  };
  const holdStores = async (owner: Owner) => both(await worker.hold(owner), await catchUps.hold(owner));
  const holdHere = async (owner: Owner) => both(await registry.hold(owner), await holdStores(owner));
  const hold = async (owner: Owner, signal: AbortSignal) => {
    const release = await holdHere(owner);
    const bound = boundedSignal([signal], CLAIMS_END_MS);
    try {
      // A process that lives lets go within a second or two; the leases of one that was killed have to end.
      await store.locks.revoke(owner, { signal });
      await store.turns.unclaimed(owner, { signal: bound.signal });
      signal.throwIfAborted();
      return release;
    } catch (error) {
      release();
      signal.throwIfAborted();
      throw error;
    } finally {
      bound.end();
    }
  };
  const records = domain.records ?? null;
  const policy: RetentionPolicy = {
    activeDays: config.RETENTION_ACTIVE_DAYS,
    archivedDays: config.RETENTION_ARCHIVED_DAYS,
    deletedDays: config.RETENTION_DELETED_DAYS,
  };
  const lockWaitMs = config.SESSION_LOCK_WAIT_MS;
  const policyOf = (owner: Owner) => retentionOf(tenants.of(owner), policy);
  const common = { store, writer, history, longTerm, ledger, gate: registry, lagging, receipts, events, records, clock, logger };
  const sessions = new SessionService(
    {
      ...common,
      writeBack: { flush, kick: () => worker.kick(), hold: holdStores },
      finalSummary: async (owner, id) => {
        await upkeep.of(owner).summaries.finish(owner, id);
        void archived(owner);
      },
      formerSessionIds: former,
      agentType: domain.name,
      recorded: {
        emptied: (owner, id) => turnRecords.removeSession(owner, id),
        purged: (owner, id) => conversations.touched(owner, id),
      },
      scrub,
    },
    { lockWaitMs, retention: policyOf },
  );
  const copies = new SessionCopies({ ...common, lockWaitMs });
  const gate = upkeepGate(registry);
  const identities = new IdentityService({
    ...common,
    records: merges,
    memories: merged,
    sessions: copies,
    domain: records,
    locks: store.locks,
    pendingOf: (owner) => store.turns.of(owner),
    begin: gate.begin,
    hold,
    holdHere,
    holdWriteBack: holdStores,
    onMerged: ({ id, from, to, at }) => events.add(to, [mergedEvent(to, { id, from, at: new Date(at) })]),
  });
  const visits = new Visits({ ...common, registry, gate, resolve: (owner) => identities.resolve(owner) });
  const privacy = new PrivacyService({
    ...common,
    user: (owner) => visits.user(owner),
    hold,
    locks: store.locks,
    merges,
    encryption,
    others: [new WordsLeft(merges, copies), receipts, ...erasable],
    onErased: (owner) => plots.add(parseOwner(owner).tenant, { erasures: 1 }),
    keepsDeleted: vectors.keepsDeleted,
    compact: async () => {
      await vectors.compact();
      await scrub();
    },
  });
  const again = config.MEM0_ENABLED ? writeBack.run : null;
  const promotion = new Promotion({ ...common, writeBack: again });
  const imports = new ImportService({
    ...common,
    promote: config.MEM0_ENABLED ? (...args) => promotion.session(...args) : null,
    restore: common,
    lockWaitMs,
  });
  const retention: Parts["retention"] = async (options) => {
    if (!options.dryRun) await identities.expire((owner, keep) => privacy.expire(owner, keep), options.signal);
    const report = await runRetention({
      ...options,
      index: store.index,
      lapse: (owner, id, how, due) => sessions.lapse(owner, id, how, due),
      policyOf,
      policies: tenants.all.map((settings) => retentionOf(settings, policy)),
      batch: config.RETENTION_BATCH,
      now: clock.now(),
      logger,
    });
    if (!options.dryRun && report.purged > 0) await scrub();
    return report;
  };
  const log = new ConversationLog({
    ...common,
    sessions,
    turns: config.MEM0_ENABLED ? longTerm : null,
    writeBack: worker,
    afterAppend: afterTurn,
  });
  return { sessions, privacy, promotion, imports, retention, log, identities, visits };
}

function both(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}
