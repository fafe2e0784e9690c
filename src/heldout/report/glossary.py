"""Explains, in a line each, the words of reports that a newcomer may not know."""

from __future__ import annotations

import re

GLOSSARY = {
    "AUC": "the chance that a row of the class gets a higher score than a row of another; 0.5 is guessing",
    "average precision": "the area under the curve of precision against recall; guessing gives the share of the class",
    "balanced accuracy": "the mean over classes of the share of rows answered rightly; a rare class counts as much",
    "BBC-CV": "a correction of the best validation score by drawing rows again (Tsamardinos et al. 2018)",
    "betting": "an interval that is certain for any number of rows, if losses lie between two bounds",
    "brute force": "every model fitted from scratch; what faster ways are checked against",
    "Brier score": "the mean squared difference between probabilities and what came true; smaller is better",
    "buffer": "rows left out between training and held-out rows, because neighbours in time resemble each other",
    "calibration": "whether, of the rows given a probability of 30 %, about 30 % come true",
    "candidate": "one setting of a learner's parameters, or one learner of several that compete",
    "cells": "the single tasks of a study: one candidate, trained on some rows, asked about some others",
    "closed form": "an answer by a formula that gives what fitting would give, without fitting",
    "corrected t": "an interval from the spread over folds, widened because folds share training rows (Nadeau and "
    "Bengio 2003)",
    "fold": "a part of the rows that is held out while a model is trained on the others",
    "heuristic": "of an interval: it works well in practice, and nothing is proved about it",
    "asymptotic": "of an interval: proved for many rows, and less sure with few",
    "F1": "twice precision times recall over their sum: high only if both are",
    "finite-sample": "of an interval: proved for any number of rows",
    "Holm": "p-values made larger so that, over all pairs, errors stay as rare as asked",
    "leave-one-out": "each row in turn is held out alone",
    "log loss": "how far probabilities are from what came true, with large penalties for sure and wrong; smaller is "
    "better",
    "MAE": "the mean absolute error, in the unit of the target",
    "nested": "parameters are chosen inside each training part, so that the rows that judge had no part in choosing",
    "no model": "always the same answer: the commonest class, the class shares, the mean or the median",
    "one-standard-error": "choosing the simplest candidate whose score is within one standard error of the best",
    "optimistic": "better on average than what to expect, because the same rows chose and judged",
    "paired": "two learners compared row by row on the same rows, which tells more than two intervals do",
    "precision": "of the rows that are called the class, the share that are of it",
    "predictor": "a trained model",
    "R²": "the share of the target's variance that is explained; 0 is no better than the mean",
    "recall": "of the rows of a class, the share that is found",
    "RMSE": "the root of the mean squared error, in the unit of the target",
    "ROC": "the share of a class that is found, against the share of the others that is called so by mistake",
    "rope": "a difference so small that it does not matter",
    "stratified": "each part has the classes in the same shares",
    "tier": "how near a faster way is to brute force: the same bits, or within rounding error",
    "Tibshirani": "a correction of the best validation score from how differently the folds choose (2009)",
    "tuned": "its parameters were chosen on validation rows",
    "validation": "rows that choose between candidates; they judge nothing else",
    "Wilson": "an interval of a share of rows that is sound near 0 % and 100 % too",
    "zero_one": "the share of wrong answers; 1 less the accuracy",
}


def words_in(text: str) -> dict[str, str]:
    """Return the entries whose words a text uses, by alphabet.

    >>> list(words_in("An interval by corrected t, heuristic; candidates: 9"))
    ['candidate', 'corrected t', 'heuristic']
    """
    used = {
        word: meaning
        for word, meaning in GLOSSARY.items()
        if re.search(rf"(?<!\w){re.escape(word)}s?(?!\w)", text, re.IGNORECASE if word.islower() else 0)
    }
    return dict(sorted(used.items(), key=lambda item: item[0].casefold()))
