/** The Model Context Protocol: the tools of one user, and the ways in which their messages come. */
export { answerOf, remoteServer } from "./http.js";
export { type McpConnection, type McpOptions, mcpServer } from "./server.js";
export { bridgeStdio, type StdioOptions, serveStdio } from "./stdio.js";
export type { McpUser } from "./tool.js";
