import type { Client, WorkflowHandle } from '@temporalio/client';

/** All text in a value of Temporal's API, also in its payloads. */
export function textOf(value: unknown): string {
  const texts: string[] = [];
  const seen = new Set<object>();
  const walk = (part: unknown): void => {
    if (typeof part === 'string') texts.push(part);
    else if (part instanceof Uint8Array) texts.push(Buffer.from(part).toString('utf8'));
    else if (part instanceof Error) {
      walk(part.message);
      walk(part.stack);
      walk(part.cause);
      walk(Object.fromEntries(Object.entries(part)));
    } else if (typeof part === 'object' && part !== null) {
      if (seen.has(part)) return;
      seen.add(part);
      for (const [key, inner] of Object.entries(part)) {
        texts.push(key);
        walk(inner);
      }
    }
  };
  walk(value);
  return texts.join('\n');
}

/** Also where the text wraps them in base64 or in an address. */
export function findTokens(text: string, tokens: readonly string[]): string[] {
  const forms = (token: string): string[] => [
    token,
    encodeURIComponent(token),
    Buffer.from(token).toString('hex'),
    Buffer.from(token).toString('base64').replace(/=+$/, ''),
  ];
  const lower = text.toLowerCase();
  return tokens.filter((token) => forms(token).some((form) => lower.includes(form.toLowerCase())));
}

/** Temporal's data of a workflow, all its runs: histories, descriptions, answers of these queries. */
export async function textOfWorkflow(client: Client, workflowId: string, queries: readonly string[] = []): Promise<string> {
  const texts: string[] = [];
  let runId: string | undefined;
  do {
    const handle: WorkflowHandle = client.workflow.getHandle(workflowId, runId);
    const history = await handle.fetchHistory();
    texts.push(textOf(history), textOf((await handle.describe()).raw));
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    runId = started?.continuedExecutionRunId ?? undefined;
  } while (runId !== undefined && runId !== '');
  for (const query of queries) texts.push(textOf(await client.workflow.getHandle(workflowId).query(query)));
  return texts.join('\n');
}
