/**
 * What the HTTP API takes, for the library beside it: the same schemas, and so the same limits. Each is what a body, a query or a path may
 * hold.
 */
export { requestHash } from "./body.js";
export { chatBody, chatRequestOf, idempotencyHeader } from "./chat.js";
export { fieldsOf, idParam, messageIdField, zoneOfEnds } from "./fields.js";
export { searchBody as historySearchBody } from "./history.js";
export {
  addBody as newMemoryBody,
  listQuery as memoryListQuery,
  patchBody as memoryPatchBody,
  searchBody as memorySearchBody,
} from "./memories.js";
export { contextBody, givenMessages, messagesBody } from "./own-agent.js";
export { invalidRequest } from "./problem.js";
export {
  createBody as newSessionBody,
  flushQuery,
  listQuery as sessionListQuery,
  messagesQuery as sessionMessagesQuery,
  patchBody as sessionPatchBody,
  settingsOf as sessionSettingsOf,
} from "./sessions.js";
export { whyOf } from "./why.js";
