import { operations, type OperationId } from './list.ts';
import { outlinesOf, type Operation } from './operation.ts';

/** All that client and `carillon --help` need to know of operations. `build.mjs` writes it out, so that they load no schemas. */
export const outlines: Readonly<Record<OperationId, Pick<Operation, 'kind' | 'route' | 'says'>>> = outlinesOf(operations);
