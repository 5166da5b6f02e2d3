import type { RowTerms } from '../../rules/row-terms.ts';

export interface ImportRow extends RowTerms {
  /** Data row from 1, in file order. */
  row: number;
  cells: string[];
  verdict: 'accepted' | 'rejected';
  reason?: string;
}
