"""Which of three learners suits the breast cancer data, and how good is that choice really?

Run it with `make demo`, or `python examples/demo.py`. It asks for nested cross-validation: 5-fold inside 5-fold.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

X, y = load_breast_cancer(return_X_y=True, as_frame=True)

# A tuned learner is a learner: training rows in, predictor out. Here three families compete, each with its own
# space, and 5-fold cross-validation within the training rows chooses the family and its parameters together.
learner = ho.Tuned(
    {
        "logistic": (
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000)),
            {"logisticregression__C": ho.log_grid(-3, 3, 7)},
        ),
        "knn": (
            make_pipeline(StandardScaler(), KNeighborsClassifier()),
            {"kneighborsclassifier__n_neighbors": [1, 3, 5, 9, 15, 25]},
        ),
        "tree": (DecisionTreeClassifier(), {"max_depth": [2, 4, 8], "min_samples_leaf": [1, 5]}),
    },
    validation=ho.KFold(5),
)

print("Breast cancer: 569 tumours, 30 measurements, benign or malignant?")
print()
print("1. The plan. Nothing is fitted yet.")
print()
print(ho.explain(learner, X, y, test=ho.KFold(5)))

# So nested cross-validation is nothing but the cross-validation of that learner: its test rows are seen by no fit,
# no scaler and no choice.
result = ho.evaluate(learner, X, y, test=ho.KFold(5), seed=0)

# The risk is of the learner. The model to ship is that learner on all rows, fitted when first asked for. Its fits give
# the best validation number too.
model = result.predictor

print()
print("2. The result. The first number is the risk of the whole procedure, choosing included;")
print("   `best_validation` is what the rows that chose also said of the choice.")
print()
print(result)

print()
print("3. The model to ship: result.predictor, the same procedure on all rows, here")
print()
print(model)
