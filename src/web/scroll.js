import { byId } from "./dom.js";

/** Where the reader is in the conversation: the question stays at the top of its answer, and a button leads to what is below. */

const NEAR_PX = 120;
const BELOW_PX = 24;

export function startScroll() {
  const log = byId("log");
  const jump = byId("jump");
  const look = () => {
    const end = log.querySelector(".exchange.latest .answer-bar")?.getBoundingClientRect().bottom;
    jump.hidden = end === undefined || end < log.getBoundingClientRect().bottom + NEAR_PX;
  };
  log.addEventListener("scroll", look, { passive: true });
  new MutationObserver(look).observe(log, { childList: true, subtree: true });
  new ResizeObserver(look).observe(log);
  jump.addEventListener("click", () => {
    const end = log.querySelector(".exchange.latest .answer-bar")?.getBoundingClientRect().bottom;
    if (end !== undefined) log.scrollTop += end - log.getBoundingClientRect().bottom + BELOW_PX;
    byId("log").focus({ preventScroll: true });
  });
}

/** The question at the top: there is always room for it, as the newest exchange is as high as the view. */
export function toQuestion(exchange) {
  scrollTo(exchange.node);
}

/** Only the conversation scrolls, never the page around it. */
function scrollTo(node) {
  const log = byId("log");
  log.scrollTop += node.getBoundingClientRect().top - log.getBoundingClientRect().top;
}

/** A message by its id, in sight and in focus. */
export function toMessage(conversation, messageId) {
  const node = conversation.nodeOf(messageId);
  if (!node) return;
  node.tabIndex = -1;
  scrollTo(node);
  node.focus({ preventScroll: true });
}
