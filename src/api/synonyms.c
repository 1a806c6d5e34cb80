/*
 * Words of other libraries for the values of options. They are not accepted: a refusal names the
 * word that is meant, as in "--approx has no 'nystroem'; what you mean is called 'nystrom' here".
 */
#include "api/synonyms.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Option, its value, and the words that stand for it, each between blanks. */
static const struct {
    const char *option, *value, *words;
} synonyms[] = {
    {"kernel", "rbf", " gaussian gauss normal radial squared-exponential se heat exp "},
    {"kernel", "polynomial", " poly "},
    {"kernel", "linear", " dot inner none identity "},
    {"kernel", "cosine", " cos angular correlation "},
    {"kernel", "laplacian", " exponential l1 manhattan "},
    {"map", "kpca", " kernel-pca kernelpca kernel_pca "},
    {"map", "laplacian", " spectral spectral-clustering ncut normalized-cut "},
    {"map", "eigenmaps", " laplacian-eigenmaps le spectral-embedding "},
    {"map", "diffusion", " diffmap diffusion-map diffusion-maps dm "},
    {"map", "svd", " lsi lsa truncated-svd "},
    {"map", "isomap", " iso mds geodesic "},
    {"approx", "nystrom", " nystroem nyström "},
    {"approx", "exact", " full dense none "},
    {"approx", "randomized", " halko rsvd random "},
    {"select", "uniform", " random "},
    {"select", "weighted", " leverage diagonal importance "},
    {"select", "rpcholesky", " cholesky pivoted-cholesky rpc "},
    {"select", "maxmin", " fps farthest farthest-point kcenter "},
    {"select", "all", " every "},
    {"scale", "standard", " zscore z-score standardize standardise std yes "},
    {"scale", "unit", " minmax min-max range "},
    {"scale", "idf", " tfidf tf-idf "},
    {"scale", "none", " no off "},
    {"metric", "euclidean", " l2 "},
    {"metric", "cosine", " angular correlation "},
    {"knn", "forest", " approximate approx annoy hnsw "},
    {"knn", "exact", " brute brute-force "},
    {"knn", "tree", " kdtree kd-tree kd_tree ckdtree balltree ball-tree ball_tree "},
    {"precision", "f32", " float32 float single fp32 "},
    {"precision", "f64", " float64 double fp64 "},
    {"dtype", "f32", " float32 float single "},
    {"dtype", "f64", " float64 double "},
    {"dtype", "u8", " uint8 byte "},
    {"dtype", "i16", " int16 short "},
    {"nan", "drop", " skip remove omit dropna "},
    {"nan", "error", " refuse raise fail "},
    {"decimal", ",", " comma "},
    {"decimal", ".", " point dot period "},
    {"header", "yes", " true on 1 "},
    {"header", "no", " false off none 0 "},
    {"format", "csv", " txt text table "},
    {"format", "tsv", " tab "},
    {"format", "npy", " numpy "},
    {"format", "idx", " mnist ubyte "},
    {"format", "mtx", " matrixmarket matrix-market mm "},
    {"format", "npz", " scipy csr csc "},
    {"format", "libsvm", " svm svmlight svm-light "},
};

const char *ny_synonym(const char *option, const char *word)
{
    size_t length = strlen(word);

    for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++) {
        if (strcmp(synonyms[i].option, option) != 0) continue;
        for (const char *at = synonyms[i].words + 1; *at; at += strcspn(at, " ") + 1)
            if (strcspn(at, " ") == length && strncasecmp(at, word, length) == 0)
                return synonyms[i].value;
    }
    return NULL;
}
