// What node:http alone can do: reads a body to its end and answers as many bytes as the path says.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const body = Buffer.alloc(Number(request.url?.slice(1)), 'x');
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The bare server has no port.');
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${address.port}` })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
// Also when whoever started it was killed.
process.stdin.resume().once('end', () => process.exit(0));
