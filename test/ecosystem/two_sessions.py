"""Two sessions of one guest through the generated client: what the first says, the second knows. Argument: the server's address."""

import sys
from uuid import UUID

from maitred_client import Client
from maitred_client.api.chat import chat
from maitred_client.api.memories import get_memory, search_memories
from maitred_client.api.sessions import create_session, flush_session, get_session, list_sessions
from maitred_client.models import ChatAnswer, ChatRequest, FoundMemoryPage, Memory, MemorySearch
from maitred_client.models import NewSession, Problem, Session, SessionPage

client = Client(base_url=sys.argv[1], headers={"X-User-Id": "ada"})


def say(message: str, session_id: str) -> ChatAnswer:
    body = ChatRequest(message=message, session_id=UUID(session_id))
    answer = chat.sync(client=client, body=body, idempotency_key=f"{session_id} {message}")
    assert isinstance(answer, ChatAnswer), answer
    return answer


first = create_session.sync(client=client, body=NewSession(external_id="first"), idempotency_key="first")
assert isinstance(first, Session), first
said = say("I prefer jazz concerts, and I need step-free access.", first.id)
assert say("I prefer jazz concerts, and I need step-free access.", first.id).message.id == said.message.id
flush_session.sync(client=client, id=UUID(first.id), timeout_ms=20_000)

second = create_session.sync(client=client, body=NewSession(title="The weekend"))
assert isinstance(second, Session), second
answer = say("Anything good this weekend?", second.id)
recalled = " ".join(memory.text for memory in answer.memory.recalled).lower()
assert "jazz" in recalled and "step-free" in recalled, recalled

page = list_sessions.sync(client=client)
assert isinstance(page, SessionPage) and {session.id for session in page.data} == {first.id, second.id}, page
found = search_memories.sync(client=client, body=MemorySearch(query="music"))
assert isinstance(found, FoundMemoryPage) and found.data, found
memory = get_memory.sync(client=client, id=UUID(found.data[0].id))
assert isinstance(memory, Memory) and memory.created_at.tzinfo is not None, memory

missing = get_session.sync_detailed(client=client, id=UUID(found.data[0].id))
assert missing.status_code == 404 and isinstance(missing.parsed, Problem), missing
assert missing.parsed.code == "SESSION_NOT_FOUND" and missing.headers["X-Request-Id"] == missing.parsed.request_id
print("The second session knew.")
