"""The flag of ApiVersions by which a node says that it takes part in a migration (KIP-866)."""

from __future__ import annotations

from kwire.conform.server import Server
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse


async def versions_with_readiness(server: Server) -> ApiVersionsResponse:
    """Ask a server for ApiVersions v3, the first with the flag. Raises Skipped without it."""
    connection = await server.connection()
    connection.demand(ApiVersionsRequest, 3)
    request = ApiVersionsRequest(client_software_name="kwire", client_software_version="1")
    answer = await connection.ask(request, 3)
    assert isinstance(answer, ApiVersionsResponse)
    return answer
