/**
 * The public API. Named exports only; no vendor's types.
 *
 * @example
 * const maitred = await createMaitred({ memoryStorageDir: "./memory_storage" });
 * const ada = maitred.for({ user: "ada" });
 * const answer = await ada.chat("A table for two by the window, please.");
 */

export type { MeteredCall, MeteredWork, TokenMeter } from "./agent/token-meter.js";
export type { MaitredParts, MakeAgent } from "./compose/compose.js";
export type * from "./compose/services.js";
export {
  ConversationOrchestrator,
  FileMemoryService,
  Mem0Service,
  nodeFileSystem,
  sparseVectors,
} from "./compose/services.js";
export type { TenantRetentionDays, TenantSettings, Tenants } from "./compose/tenants.js";
export type { BookingReceipt, ReceiptBody } from "./domain/booking-receipt.js";
export type { CategoriesOf, Category } from "./domain/categories.js";
export type { EventData, EventDataOf, EventDataWith, EventType, OwnerEvent } from "./domain/event.js";
export type { GivenMessage, GivenStep } from "./domain/given-messages.js";
export type { GivenImage, ImageType, MessageImage } from "./domain/image.js";
export type {
  Memory,
  MemoryEvent,
  MemoryPatch,
  MemorySource,
  MemoryState,
  MemoryType,
  NewStatement,
  PendingChange,
  RestorableMemory,
  StatedType,
  Statement,
  WaitingReason,
} from "./domain/memory.js";
export type { MemoryRecord } from "./domain/memory-record.js";
export { type Owner, ownerOf, parseOwner } from "./domain/owner.js";
export type { CategoryOccasions, Occasion, PartyWords, RecallTable } from "./domain/recall-table.js";
export type { ReadOnly } from "./domain/schema.js";
export type {
  AnswerPart,
  Element,
  HeldBack,
  JournalRecord,
  JsonObject,
  JsonValue,
  Message,
  MessageMetadata,
  MessageRecord,
  NewRecord,
  PlacedElements,
  ProviderState,
  RecalledMemory,
  RecallReason,
  RecallStatus,
  RecordOf,
  Role,
  Round,
  Session,
  SessionStatus,
  ShownPart,
  Source,
  Step,
  StepRecord,
  Timing,
  Usage,
} from "./domain/session.js";
export type { ToConfirm } from "./domain/to-confirm.js";
export type { ModelPrice, SessionUsage, TaskTokens, TokensByTask, TokenTask } from "./domain/tokens.js";
export type { PromptBlock, ProposalOutcome, TimingRecord, TurnRecord } from "./domain/turn-record.js";
export type { Booked } from "./gate/booking-receipt.js";
export type { DomainParts, DomainToOpen, Gate, Judge } from "./gate/constraint-gate.js";
export type { SamePeople } from "./gate/people.js";
export type { Basis, Candidate, CheckedNeed, Conflict, Mention, NeedCheck, Party, Verdict } from "./gate/verdict.js";
export type { UserNow, UserParts } from "./library/checked.js";
export { type CategoryDefinition, type DomainDefinition, defineDomain, type NeedDefinition } from "./library/define-domain.js";
export { defineTool, type LookUpDefinition, type OfCatalogue, type ToolDefinition } from "./library/define-tool.js";
export type { SessionName } from "./library/known-options.js";
export { createMaitred, createOrchestrator, type Maitred } from "./library/library.js";
export type { MaitredOptions } from "./library/options.js";
export type { Settings } from "./library/settings.js";
export type { JsonObjectSchema, StandardResult, StandardSchema, ToolInput, ToolSchema } from "./library/tool-schema.js";
export type { AddedToSession, AddOptions, ChatOptions, ContextOptions, MaitredUser, StreamEvent, TurnOptions } from "./library/user.js";
export type {
  HistorySearchOptions,
  MemoryChange,
  MemoryFilter,
  MemoryListOptions,
  NewMemoryOptions,
  StatementOptions,
  UserHistory,
  UserMemories,
} from "./library/user-memories.js";
export type { MessageListOptions, SessionChange, SessionListOptions, SessionOptions, UserSessions } from "./library/user-sessions.js";
export type { Clock } from "./platform/clock.js";
export {
  AppError as MaitredError,
  type AppErrorOptions as MaitredErrorOptions,
  ERRORS,
  type ErrorCode,
  type ErrorDetail,
  type ErrorSpec,
  isAppError as isMaitredError,
} from "./platform/errors.js";
export type { Logger } from "./platform/logger.js";
export type { LineOpener } from "./platform/recent-lines.js";
export type { TokenCounter } from "./platform/tokens.js";
export type * from "./ports/agent.js";
export type * from "./ports/application.js";
export type * from "./ports/binding.js";
export type {
  ChatModel,
  FinishReason,
  ModelCallOptions,
  ModelEvent,
  ModelImage,
  ModelMeasure,
  ModelMessage,
  ModelRequest,
  ModelTask,
  ModelToolCall,
  ToolSpec,
} from "./ports/chat-model.js";
export type { ConversationQuery } from "./ports/conversation-list.js";
export type * from "./ports/embedding.js";
export type {
  DeadEvent,
  EventListener,
  EventListQuery,
  EventPattern,
  EventScope,
  Events,
  FollowedEvents,
  KeptEvent,
  ToldEvent,
  ToldEventOf,
  UndeliveredEvent,
} from "./ports/events.js";
export type {
  AlsoAsked,
  AlsoDue,
  CallsLeft,
  MessageReader,
  MessageToRead,
  NeedsReading,
  ProposedOperation,
  Reading,
  Stance,
} from "./ports/extraction.js";
export type { StorageHealth } from "./ports/health-history.js";
export type * from "./ports/history.js";
export type { Identities, Merge, MergeRequest, MergeState } from "./ports/identities.js";
export type * from "./ports/image-store.js";
export type { KeyVault } from "./ports/key-vault.js";
export type * from "./ports/memories.js";
export type * from "./ports/memory-log.js";
export type * from "./ports/memory-store.js";
export type * from "./ports/metrics.js";
export type { NeedTalk } from "./ports/need-talk.js";
export type * from "./ports/offline-script.js";
export type { Job, JobKind, JobResult, JobState, Jobs, KnownUser, Operator } from "./ports/operator.js";
export type * from "./ports/own-agent.js";
export type * from "./ports/owner-activity.js";
export type * from "./ports/owner-ledger.js";
export type { RequestKey } from "./ports/request-key.js";
export type {
  AddedMessages,
  AnswerStep,
  ChatAnswer,
  ContextForPrompt,
  ErasureReceipt,
  HistoryHit,
  HistoryMessage,
  PartStatus,
  Readiness,
  ThreadElement,
  ThreadStep,
  Why,
  WriteBackState,
} from "./ports/resources.js";
export type { SessionRef } from "./ports/session-names.js";
export type * from "./ports/session-store.js";
export type { SessionsBehind, SessionWriter } from "./ports/session-writer.js";
export type { ConversationName, GuestName, PageQuery, PlotQuery, ReplayOtherwise, Studio } from "./ports/studio.js";
export type {
  ConversationDetail,
  ConversationRow,
  GuestDetail,
  HealthChange,
  HealthView,
  PlotStep,
  QueuedWriteBack,
  QueueState,
  ShownAnswer,
  ShownBlock,
  ShownProposal,
  ShownRecalled,
  ShownTiming,
  StudioInfo,
  TimelineEntry,
  TimelineEvent,
  TurnDetail,
  TurnReplay,
  TurnRow,
  WaitingMemory,
} from "./ports/studio-views.js";
export type { TimedWork } from "./ports/tool-context.js";
export type { JournalEnd, RestoresJournals } from "./ports/transfer.js";
export type { EndedTurn, TurnName, TurnRecorder } from "./ports/turn-records.js";
export type * from "./ports/vectors.js";
export type * from "./state/engine.js";
export type { JournalSeals, LineSealer } from "./state/journal/journal-codec.js";
