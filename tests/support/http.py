"""Asks an HTTP server in one request, as Prometheus does."""

import asyncio


async def ask(port: int, head: str) -> tuple[str, str]:
    """Status line and body of one HTTP request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{head}\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    headers, _, body = answer.partition("\r\n\r\n")
    return headers.split("\r\n")[0], body
