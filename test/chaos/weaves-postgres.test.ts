import { testWeaves } from './weaves-suite.ts';

testWeaves('postgres', { every: 13, seeds: 8 });
