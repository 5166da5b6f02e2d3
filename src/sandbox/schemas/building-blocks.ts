import { z } from 'zod';
import { factsOf, type Dialect } from '../core/dialects.ts';

export interface SchemaMode {
  dialect: Dialect;
  /** Accepts unknown keys. */
  loose: boolean;
}

export function objectOf<Shape extends z.ZodRawShape>(mode: SchemaMode, shape: Shape): z.ZodObject<Shape> {
  return mode.loose ? z.looseObject(shape) : z.strictObject(shape);
}

/** Fields beyond the contract, with their source; unknown in dialects without them. */
export function extendedOnly<Shape extends z.ZodRawShape>(mode: SchemaMode, source: Source, shape: Shape): Shape {
  return factsOf(mode).further ? sourced(source, shape) : ({} as Shape);
}

/**
 * A field's source: the contract; else documentation of comparable services (DOC), their published types (SDK), other public code (COMM),
 * or a choice of our own (GUESS).
 */
export type Source = 'contract' | 'DOC' | 'SDK' | 'COMM' | 'GUESS';

export function sourced<Shape extends z.ZodRawShape>(source: Source, shape: Shape): Shape {
  const fields = Object.entries(shape as Readonly<Record<string, z.core.$ZodType>>) as [string, z.ZodType][];
  return Object.fromEntries(fields.map(([name, field]) => [name, field.meta({ 'x-source': source })])) as z.ZodRawShape as Shape;
}

export const e164 = z
  .string()
  .regex(/^\+[1-9]\d{6,14}$/, 'Must be a phone number in E.164 format, such as +12125550100: a plus sign, then 7 to 15 digits.');

export const identifier = z.string().min(1, 'Must not be empty.').max(200);

export const variableValues = z.record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()]));
