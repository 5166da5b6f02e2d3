import { z } from 'zod';
import { identifier } from './building-blocks.ts';

/** A document that the agent may draw on. The sandbox keeps it and shows it; what it says is known to nobody here. */
export const knowledgeDocument = z.looseObject({
  id: identifier,
  type: z.enum(['file', 'url', 'text', 'folder']).optional(),
  name: z.string().max(500).optional(),
  usage_mode: z.enum(['auto', 'prompt']).optional(),
});

/** A tool that the agent's model may use. What else belongs to one kind of tool alone is kept as it is. */
const tool = z.looseObject({
  type: z.enum(['client', 'webhook', 'system'], { error: 'Must be client, webhook or system.' }),
  name: z.string().regex(/^[\w-]{1,64}$/, 'Must be 1 to 64 letters, digits, underscores or hyphens.'),
  description: z.string().max(10_000).optional(),
  parameters: z.record(z.string(), z.unknown()).optional(),
});

export const agentTools = z.array(tool).superRefine((tools, context) => {
  const seen = new Set<string>();
  for (const [index, { name }] of tools.entries()) {
    if (seen.has(name))
      context.addIssue({ code: 'custom', path: [index, 'name'], message: 'Another tool has this name.', input: name });
    seen.add(name);
  }
});
