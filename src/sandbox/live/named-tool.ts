import { contentWords } from '../core/conversation/content-words.ts';
import type { AgentTool } from '../llm/model-tools.ts';
import { readValue } from '../core/conversation/read-value.ts';
import { saidValue } from './said-value.ts';

/** Fewer words in common with a tool's description may be chance. */
const leastShared = 2;

/**
 * The client's tool that somebody asks for, by rules alone: every word of its name is said, or two words that carry the meaning
 * of its description. The first such tool of the agent; null for none.
 */
export function toolNamedIn(heard: string, tools: readonly AgentTool[]): AgentTool | null {
  const said = new Set(contentWords(heard));
  const isSaid = (word: string): boolean => said.has(word);
  const found = tools.find(({ type, name, description }) => {
    if (type !== 'client') return false;
    const own = contentWords(name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').replaceAll(/[_-]+/g, ' '));
    if (own.length > 0 && own.every(isSaid)) return true;
    return new Set(contentWords(description).filter(isSaid)).size >= leastShared;
  });
  return found ?? null;
}

/** What the words give for the parameters of a tool; those that they say nothing about are left out. */
export function parametersFrom(
  heard: string,
  { name: tool, description, parameters }: AgentTool,
): Record<string, unknown> {
  const properties = parameters?.['properties'];
  if (typeof properties !== 'object' || properties === null) return {};
  const values: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const value = valueFor(name, property, heard, [tool, description]);
    if (value !== null) values[name] = value;
  }
  return values;
}

function valueFor(name: string, property: unknown, heard: string, ofTool: readonly string[]): unknown {
  const { type, enum: choices, description, format } = (property ?? {}) as Record<string, unknown>;
  if (type !== 'string' && type !== 'boolean' && type !== 'integer' && type !== 'number') return null;
  const listed = Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
  if (type === 'string' && listed.length === 0)
    return saidValue(heard, { name, description: textOf(description), format: textOf(format) }, ofTool);
  return readValue(listed.length > 0 ? { type, enum: listed } : { type }, heard);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
