import { contentWords } from '../core/conversation/hearing.ts';
import type { AgentTool } from '../llm/model-tools.ts';
import { escapePattern, readValue } from '../core/conversation/read-value.ts';

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
    const own = contentWords(spread(name));
    if (own.length > 0 && own.every(isSaid)) return true;
    return new Set(contentWords(description).filter(isSaid)).size >= leastShared;
  });
  return found ?? null;
}

/** What the words give for the parameters of a tool; those that they say nothing about are left out. */
export function parametersFrom(heard: string, { name: tool, description, parameters }: AgentTool): Record<string, unknown> {
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

/** What a tool's parameter tells of itself. */
export interface Wanted {
  name: string;
  description: string;
  format: string;
}

const longestReading = 2_000;
const quoted = /["“«„](?<value>[^"“”«»„]+)["”»“]|(?<![\p{L}\p{N}])['‘](?<single>[^'’]{2,})['’](?![\p{L}\p{N}])/u;
const months = 'january|february|march|april|may|june|july|august|september|october|november|december';
const shapes: readonly (readonly [RegExp, RegExp])[] = [
  [/\be-?mail\b/i, /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/u],
  [/\b(?:ur[il]|link|website)\b/i, /\bhttps?:\/\/[^\s"'<>]+[^\s"'<>.,;:!?)]/i],
  [/\b(?:phone|telephone|mobile|fax)\b/i, /\+?\d[\d ().-]{5,}\d/],
  [
    /\b(?:date|day|when)\b/i,
    new RegExp(
      [
        String.raw`\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b`,
        String.raw`\b(?:(?:next|this) )?(?:today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b`,
        String.raw`\b\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:${months})\b|\b(?:${months}) \d{1,2}(?:st|nd|rd|th)?\b`,
      ].join('|'),
      'i',
    ),
  ],
  [/\b(?:time|hour|when)\b/i, /\b\d{1,2}:\d{2}(?: ?[ap]\.?m\b)?|\b\d{1,2} ?[ap]m\b|\b(?:noon|midnight)\b/i],
  [
    /\b(?:id|code|number|reference|sku|order|invoice|ticket|plate|key)\b/i,
    /(?<![\p{L}\p{N}])(?=[\p{L}-]*\d)[\p{L}\p{N}]+(?:[-_/][\p{L}\p{N}]+)*/u,
  ],
];
const freeText = /\b(?:message|text|note|comment|question|query|remark|feedback|content|body|summary)\b/i;
const saying = /\b(?:that|saying|says|to say|reads?|:)\s+(?<value>\S.*)$/is;
/** What is said around a value and does not belong to it. */
const politeness =
  /(?:(?:^|[\s,]+)(?:please|thanks|thank you|for me|if you can|if possible|now|right away|will you|would you|could you))+[\s.!?,;]*$/i;
const ends = /[.!?;]+(?:\s|$)|,\s|\s+(?:and|or|but|because|so that)\s+/i;
const linking = /^(?:\s*(?:is|are|was|as|to|of|for|called|named|number|no\.?|in|at|on|with|the|a|an|my|our|[:=]))*[\s:]+/i;
const prepositions = /\b(?:called|named|in|for|to|at|about|of|on|with|from)\s+(?:the |a |an |my |our )?(?<value>\S.*)$/is;

/** The value that words give for a parameter that is a text; null where they say nothing that could be it. */
export function saidValue(words: string, wanted: Wanted, ofTool: readonly string[]): string | null {
  const heard = words.slice(0, longestReading);
  const about = spread(`${wanted.name} ${wanted.format} ${wanted.description}`);
  const inQuotes = quoted.exec(heard)?.groups;
  const literal = inQuotes?.['value'] ?? inQuotes?.['single'];
  if (literal !== undefined) return literal.trim();
  for (const [parameter, value] of shapes) {
    const found = parameter.test(spread(`${wanted.name} ${wanted.format}`)) ? value.exec(heard)?.[0] : undefined;
    if (found !== undefined) return found.trim();
  }
  if (freeText.test(spread(wanted.name))) return tidy(saying.exec(heard)?.groups?.['value'] ?? heard);
  return afterItsName(heard, wanted.name) ?? leftOver(heard, about, ofTool);
}

/** "city is Berlin", "city Berlin": what follows the parameter's name. */
function afterItsName(heard: string, name: string): string | null {
  const words = spread(name)
    .split(' ')
    .filter((word) => word !== '');
  const last = words.at(-1);
  if (last === undefined) return null;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escapePattern(last)}(?![\\p{L}\\p{N}])(?<rest>[\\s:=].*)$`, 'isu');
  const rest = pattern.exec(heard)?.groups?.['rest'];
  return rest === undefined ? null : firstPart(rest.replace(linking, ' '));
}

/** What follows a preposition, else what the tool's own words leave over. */
function leftOver(heard: string, about: string, ofTool: readonly string[]): string | null {
  const known = new Set([...ofTool, about].flatMap((text) => contentWords(spread(text))));
  const isNew = (text: string): boolean => contentWords(text).some((word) => !known.has(word));
  for (let rest = heard; ;) {
    const value = prepositions.exec(rest)?.groups?.['value'];
    if (value === undefined) break;
    const part = firstPart(value);
    if (part !== null && isNew(part)) return part;
    rest = value;
  }
  const words = heard.split(/\s+/);
  const last = words.findLastIndex((word) => contentWords(word).some((part) => known.has(part)));
  const left = last === -1 ? null : firstPart(words.slice(last + 1).join(' '));
  return left !== null && isNew(left) ? left : null;
}

function firstPart(text: string): string | null {
  const [part = ''] = text.trim().split(ends);
  return tidy(part);
}

function tidy(text: string): string | null {
  const value = text.replace(politeness, '').replace(/^[\s,:]+|[\s.!?,;:]+$/g, '');
  return value === '' ? null : value;
}

function spread(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase();
}
