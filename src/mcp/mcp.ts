/** The Model Context Protocol: the tools of one user, and the ways in which their messages come. */
export { answerOf } from "./http-answer.js";
export type { McpUser } from "./mcp-user.js";
export { remoteServer } from "./remote.js";
export { type McpConnection, type McpOptions, mcpServer } from "./server.js";
export { bridgeStdio, type StdioOptions, serveStdio } from "./stdio.js";
